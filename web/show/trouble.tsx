import type { ReactNode } from 'react';
import { useServerWords, useWords } from '../words/words.ts';

/** An error message, shown where the error happened. */
export function Trouble({ text }: { text: string | null }): ReactNode {
  const say = useWords();
  const told = useServerWords();
  if (text === null) return null;
  return (
    <p role="alert" className="rounded-lg border border-bad px-3 py-2 text-bad [overflow-wrap:anywhere]">
      {say('somethingWrong', { reason: told(text) })}
    </p>
  );
}
