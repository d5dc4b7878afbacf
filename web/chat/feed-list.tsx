import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useWords } from '../words/words.ts';
import { Row } from './row.tsx';
import type { ChatRow } from './group-rows.ts';

/** Only what is in sight is in the page, however long the session; it stays at the end until one scrolls up. */
export function FeedList({ rows }: { rows: readonly ChatRow[] }): ReactNode {
  const say = useWords();
  const scroller = useRef<HTMLDivElement>(null);
  const [pinned, setPinned] = useState(true);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 72,
    overscan: 8,
    getItemKey: (index) => rows[index]?.key ?? index,
  });
  const height = virtual.getTotalSize();
  useEffect(() => {
    if (pinned && height > 0) scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
  }, [pinned, height]);
  return (
    <div
      ref={scroller}
      role="log"
      aria-label={say('chat')}
      aria-live="off"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
      tabIndex={0}
      className="min-h-0 flex-1 overflow-y-auto px-3 py-3"
      onScroll={({ currentTarget: box }) => setPinned(box.scrollHeight - box.scrollTop - box.clientHeight < 80)}
    >
      <div className="relative mx-auto max-w-4xl" style={{ height }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => {
          const row = rows[index];
          return (
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              className="absolute inset-x-0 top-0 pb-2"
              style={{ transform: `translateY(${start}px)` }}
            >
              {row !== undefined && <Row row={row} />}
            </div>
          );
        })}
      </div>
    </div>
  );
}
