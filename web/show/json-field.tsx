import { type ReactNode, useState } from 'react';
import { messageOf } from '../api/api.ts';
import { useWords } from '../words/words.ts';

const WRAPPED_AT = 80;

/**
 * A text field for JSON. Text that does not parse stays in the field and is not passed on; with `orText` it counts as a
 * plain string.
 */
export function JsonField({
  id,
  label,
  value,
  rows = 3,
  orText = false,
  isObject = false,
  onChange,
  onBroken,
}: {
  id?: string;
  label?: string;
  value: unknown;
  rows?: number;
  orText?: boolean;
  /** Only a JSON object is accepted. */
  isObject?: boolean;
  onChange: (value: unknown) => void;
  onBroken: (broken: boolean) => void;
}): ReactNode {
  const say = useWords();
  const parse = orText ? jsonOrText : JSON.parse;
  const [text, setText] = useState(() => textOf(value, parse));
  const [trouble, setTrouble] = useState<string | null>(null);
  const take = (typed: string) => {
    setText(typed);
    const found = read(typed, parse);
    const wrong =
      'reason' in found
        ? say('invalidJson', found)
        : isObject && !isPlainObject(found.value)
          ? say('needsObject')
          : null;
    setTrouble(wrong);
    onBroken(wrong !== null);
    if (wrong === null && 'value' in found) onChange(found.value);
  };
  return (
    <>
      <textarea
        {...(id !== undefined && { id })}
        {...(label !== undefined && { 'aria-label': label })}
        rows={Math.max(rows, Math.min(20, countRows(text)))}
        spellCheck={false}
        className="field code"
        value={text}
        onChange={({ target }) => take(target.value)}
      />
      {trouble !== null && (
        <p role="alert" className="text-bad text-sm">
          {trouble}
        </p>
      )}
    </>
  );
}

function read(typed: string, parse: (typed: string) => unknown): { value: unknown } | { reason: string } {
  try {
    return { value: typed.trim() === '' ? undefined : parse(typed) };
  } catch (error) {
    return { reason: messageOf(error) };
  }
}

function isPlainObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function jsonOrText(typed: string): unknown {
  try {
    return JSON.parse(typed);
  } catch {
    return typed;
  }
}

function textOf(value: unknown, parse: (typed: string) => unknown): string {
  if (value === undefined) return '';
  const isPlain = typeof value === 'string' && parse === jsonOrText && parse(value) === value;
  return isPlain ? value : JSON.stringify(value, null, 2);
}

/** Estimates the rows a text takes in a field that wraps it. */
export function countRows(text: string): number {
  return text.split('\n').reduce((rows, line) => rows + Math.max(1, Math.ceil(line.length / WRAPPED_AT)), 0);
}
