import type { ReactNode } from 'react';
import { useWords } from '../words/words.ts';

/** What went wrong, where it happened, in the server's words. */
export function Trouble({ text }: { text: string | null }): ReactNode {
  const say = useWords();
  if (text === null) return null;
  return (
    <p role="alert" className="rounded-lg border border-bad px-3 py-2 text-bad [overflow-wrap:anywhere]">
      {say('somethingWrong', { reason: text })}
    </p>
  );
}
