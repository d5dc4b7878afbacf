import { type ReactNode, useState } from 'react';
import { messageOf } from '../api/api.ts';
import { useWords } from '../words/words.ts';
import { rowsFor } from './rows-for.ts';

/** JSON as text. What does not parse is kept for mending and handed to nobody. */
export function JsonField({
  id,
  label,
  value,
  rows = 3,
  onChange,
  onBroken,
}: {
  id?: string;
  label?: string;
  value: unknown;
  rows?: number;
  onChange: (value: unknown) => void;
  onBroken?: (broken: boolean) => void;
}): ReactNode {
  const say = useWords();
  const [text, setText] = useState(() => (value === undefined ? '' : JSON.stringify(value, null, 2)));
  const [trouble, setTrouble] = useState<string | null>(null);
  const take = (typed: string) => {
    setText(typed);
    try {
      onChange(typed.trim() === '' ? undefined : JSON.parse(typed));
      setTrouble(null);
      onBroken?.(false);
    } catch (error) {
      setTrouble(messageOf(error));
      onBroken?.(true);
    }
  };
  return (
    <>
      <textarea
        {...(id !== undefined && { id })}
        {...(label !== undefined && { 'aria-label': label })}
        rows={Math.max(rows, Math.min(20, rowsFor(text)))}
        spellCheck={false}
        className="field code"
        value={text}
        onChange={({ target }) => take(target.value)}
      />
      {trouble !== null && (
        <p role="alert" className="text-bad text-sm">
          {say('invalidJson', { reason: trouble })}
        </p>
      )}
    </>
  );
}
