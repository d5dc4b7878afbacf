import { type ReactNode, useEffect, useRef } from 'react';
import type { PreviewBlock } from '../../src/protocol/preview.ts';
import { Arguments } from '../show/arguments.tsx';
import { DiffText } from '../show/diff-text.tsx';
import { Visible } from '../show/visible.tsx';
import { useWords } from '../words/words.ts';

/** What was asked for, or what an edit would make of it. */
export interface Planned {
  readonly args?: unknown;
  readonly preview: readonly PreviewBlock[];
  readonly digest: string;
}

/** Everything that would run. `onSeen` tells that its end has been in sight: until then nobody can say yes. */
export function WhatRuns({
  planned,
  onSeen,
  children,
}: {
  planned: Planned;
  onSeen: (digest: string) => void;
  /** Beside the title. */
  children?: ReactNode;
}): ReactNode {
  const say = useWords();
  const end = useRef<HTMLDivElement>(null);
  const { preview, digest } = planned;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each plan
  useEffect(() => {
    if (end.current === null) return;
    // Within the window, so within all that scrolls around it. Nothing may cover a part of what scrolls.
    const watch = new IntersectionObserver(
      (entries) => entries.some((entry) => entry.isIntersecting) && onSeen(digest),
    );
    watch.observe(end.current);
    return () => watch.disconnect();
  }, [digest]);
  return (
    <section aria-label={say('whatRuns')}>
      <div className="mb-1 flex flex-wrap justify-between gap-x-3 text-sm">
        <h3 className="font-semibold">{say('whatRuns')}</h3>
        {children}
      </div>
      <div
        // biome-ignore lint/a11y/noNoninteractiveTabindex: from here the keys scroll the dialog
        tabIndex={0}
        className="approval-details flex flex-col gap-3 rounded-lg border border-line bg-page p-3"
      >
        {withoutRepeats(preview).map((block, index) => (
          <Preview key={index} block={block} />
        ))}
        <Arguments args={argumentsBeside(planned)} />
        <div ref={end} className="h-px" />
      </div>
    </section>
  );
}

/** A tool's own words may begin with the command that stands above them already. */
function withoutRepeats(preview: readonly PreviewBlock[]): PreviewBlock[] {
  const starts = preview.flatMap((block) => (block.kind === 'command' ? [`${block.command}\n`] : []));
  return preview.map((block) => {
    const start = block.kind === 'text' && starts.find((each) => block.text.startsWith(each));
    return start ? { ...block, text: block.text.slice(start.length) } : block;
  });
}

/** An argument that stands in the preview as it is, letter for letter, need not be read twice. */
function argumentsBeside({ args, preview }: Planned): Record<string, unknown> {
  const shown = preview.flatMap((block) => (block.kind === 'command' ? [block.command] : []));
  const rest = Object.entries((args ?? {}) as Record<string, unknown>);
  return Object.fromEntries(rest.filter(([, value]) => !shown.includes(value as string)));
}

function Preview({ block }: { block: PreviewBlock }): ReactNode {
  const say = useWords();
  return (
    <div>
      <Block block={block} />
      {'truncated' in block && block.truncated && <p className="text-sm text-warn">{say('blockCut')}</p>}
    </div>
  );
}

function Block({ block }: { block: PreviewBlock }): ReactNode {
  switch (block.kind) {
    case 'command':
      return (
        <pre className="code rounded bg-raised p-2">
          <Visible text={block.command} />
        </pre>
      );
    case 'diff':
      return <DiffText text={block.text} />;
    case 'url':
      return (
        <p className="code">
          <strong>{block.method}</strong> <Visible text={block.url} />
        </p>
      );
    case 'text':
      return (
        <pre className="code">
          <Visible text={block.text} />
        </pre>
      );
  }
}
