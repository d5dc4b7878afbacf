import { type ReactNode, useEffect, useRef, useState } from 'react';
import { formatDuration } from '../show/format.ts';
import { stripEscapes } from '../show/visible-text.tsx';

const MAX_LINES = 200;
/** Pixels from the end within which a person still counts as reading there. */
const AT_END = 24;

/** The newest output of a running call. It follows the end until a person scrolls up, and again when they come back to it. */
export function LiveOutput({ text }: { text: string }): ReactNode {
  const box = useRef<HTMLPreElement>(null);
  const follows = useRef(true);
  const lines = stripEscapes(text).split('\n').slice(-MAX_LINES).join('\n');
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new line moves the end
  useEffect(() => {
    if (follows.current) box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [lines]);
  return (
    <pre
      ref={box}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
      tabIndex={0}
      className="output-frame code max-h-60 overflow-y-auto p-2"
      data-live
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        follows.current = scrollHeight - scrollTop - clientHeight < AT_END;
      }}
    >
      {lines}
    </pre>
  );
}

/** The time since a call began, second by second. */
export function TimeSince({ at }: { at: number }): ReactNode {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const ticking = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(ticking);
  }, []);
  return (
    <span className="shrink-0 text-soft text-xs" data-elapsed>
      {formatDuration(Math.max(0, now - at))}
    </span>
  );
}
