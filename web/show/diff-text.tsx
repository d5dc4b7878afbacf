import type { ReactNode } from 'react';
import { VisibleText } from './visible-text.tsx';

/** A unified diff, line by line. Added and removed lines differ by sign as well as by colour. */
export function DiffText({ text }: { text: string }): ReactNode {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
    <div tabIndex={0} className="code max-h-[32rem] overflow-y-auto rounded border border-line" data-diff>
      {text.split('\n').map((line, index) => (
        <div key={index} className={`px-2 ${colourOf(line)}`}>
          <VisibleText text={line === '' ? ' ' : line} />
        </div>
      ))}
    </div>
  );
}

function colourOf(line: string): string {
  if (line.startsWith('+++') || line.startsWith('---')) return 'text-soft';
  if (line.startsWith('+')) return 'bg-good/10 text-good';
  if (line.startsWith('-')) return 'bg-bad/10 text-bad';
  return line.startsWith('@@') ? 'text-accent' : '';
}
