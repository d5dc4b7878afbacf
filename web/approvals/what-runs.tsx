import { type ReactNode, useEffect, useRef } from 'react';
import type { ApprovalDetail } from '../../src/protocol/approvals.ts';
import type { PreviewBlock } from '../../src/protocol/preview.ts';
import { Arguments } from '../chat/call-card.tsx';
import { DiffText } from '../show/diff-text.tsx';
import { Visible } from '../show/visible.tsx';
import { useWords } from '../words/words.ts';
import { Parts } from './why-it-asks.tsx';

/** Everything that would run. `onSeen` tells that its end has been in sight: until then nobody can say yes. */
export function WhatRuns({ approval, onSeen }: { approval: ApprovalDetail; onSeen: () => void }): ReactNode {
  const say = useWords();
  const box = useRef<HTMLDivElement>(null);
  const end = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for what is shown
  useEffect(() => {
    if (end.current === null) return;
    const watch = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && onSeen(), {
      root: box.current,
      rootMargin: '0px 0px 8px 0px',
    });
    watch.observe(end.current);
    return () => watch.disconnect();
  }, []);
  return (
    <section aria-label={say('whatRuns')}>
      <h3 className="mb-1 font-semibold text-sm">{say('whatRuns')}</h3>
      <div
        ref={box}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
        tabIndex={0}
        className="approval-details flex max-h-[45dvh] flex-col gap-3 overflow-y-auto rounded-lg border border-line bg-page p-3"
      >
        {approval.preview.map((block, index) => (
          <Preview key={index} block={block} />
        ))}
        <Arguments args={approval.args} />
        <div ref={end} className="h-px" />
      </div>
    </section>
  );
}

export function Preview({ block }: { block: PreviewBlock }): ReactNode {
  switch (block.kind) {
    case 'command':
      return (
        <div>
          <pre className="code rounded bg-raised p-2">
            <Visible text={block.command} />
          </pre>
          {block.parts.length > 0 && <Parts parts={block.parts} />}
        </div>
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
