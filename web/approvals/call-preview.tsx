import type { ReactNode } from 'react';
import type { PreviewBlock } from '../../src/protocol/preview.ts';
import { ChangesList } from '../changes/changes-list.tsx';
import { Arguments } from '../show/arguments.tsx';
import { DiffText } from '../show/diff-text.tsx';
import { VisibleText } from '../show/visible-text.tsx';
import { useWords } from '../words/words.ts';
import { useSeenEnd } from './use-seen-end.ts';

/** A call as requested, or as edited arguments would change it. */
export interface PreviewedCall {
  readonly args?: unknown;
  readonly preview: readonly PreviewBlock[];
  readonly digest: string;
}

/** The whole call to be approved. `onSeen` fires when its end was in view; before that it cannot be allowed. */
export function CallPreview({
  planned,
  onSeen,
  children,
}: {
  planned: PreviewedCall;
  onSeen: (digest: string) => void;
  /** Beside the title. */
  children?: ReactNode;
}): ReactNode {
  const say = useWords();
  const { preview, digest } = planned;
  const end = useSeenEnd(digest, onSeen);
  const heading = say(isCommand(planned) ? 'headingCommand' : 'headingCall');
  return (
    <section aria-label={heading}>
      <div className="mb-1 flex flex-wrap justify-between gap-x-3 text-sm">
        <h3 className="font-semibold">{heading}</h3>
        {children}
      </div>
      <div
        // biome-ignore lint/a11y/noNoninteractiveTabindex: from here the keys scroll the dialog
        tabIndex={0}
        className="approval-details flex flex-col gap-3 rounded-lg border border-line bg-page p-3"
      >
        {dropRepeats(preview).map((block, index) => (
          <Preview key={index} block={block} />
        ))}
        <Arguments args={otherArguments(planned)} />
        <div ref={end} className="h-px" />
      </div>
    </section>
  );
}

/** Whether the preview begins with a command line. */
export function isCommand({ preview }: Pick<PreviewedCall, 'preview'>): boolean {
  return preview[0]?.kind === 'command';
}

/** Removes the command from the start of a tool's text when the block above shows it already. */
function dropRepeats(preview: readonly PreviewBlock[]): PreviewBlock[] {
  const starts = preview.flatMap((block) => (block.kind === 'command' ? [`${block.command}\n`] : []));
  return preview.map((block) => {
    const start = block.kind === 'text' && starts.find((each) => block.text.startsWith(each));
    return start ? { ...block, text: block.text.slice(start.length) } : block;
  });
}

/** Leaves out arguments that the preview shows letter for letter. */
function otherArguments({ args, preview }: PreviewedCall): Record<string, unknown> {
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
          <VisibleText text={block.command} />
        </pre>
      );
    case 'diff':
      return <DiffText text={block.text} />;
    case 'url':
      return (
        <p className="code">
          <strong>{block.method}</strong> <VisibleText text={block.url} />
        </p>
      );
    case 'changes':
      return <ChangesList items={block.items} repository={block.repository} />;
    case 'text':
      return (
        <pre className="code">
          <VisibleText text={block.text} />
        </pre>
      );
  }
}
