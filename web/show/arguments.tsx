import type { ReactNode } from 'react';
import { useWords } from '../words/words.ts';
import { VisibleText } from './visible-text.tsx';

/** Shows each argument in full, or up to `most` characters of it, so that a page of past calls stays fast. */
export function Arguments({ args, most = Number.POSITIVE_INFINITY }: { args: unknown; most?: number }): ReactNode {
  const say = useWords();
  const entries = Object.entries((args ?? {}) as Record<string, unknown>);
  if (entries.length === 0) return null;
  return (
    <dl
      aria-label={say('arguments')}
      className="grid grid-cols-[fit-content(40%)_minmax(0,1fr)] gap-x-3 gap-y-1 text-sm"
    >
      {entries.map(([name, value]) => {
        const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 1) ?? '');
        return (
          <div key={name} className="contents">
            <dt className="font-mono text-soft [overflow-wrap:anywhere]">
              <VisibleText text={name} />
            </dt>
            <dd className="code max-h-48 overflow-y-auto">
              <VisibleText text={text.length > most ? text.slice(0, most) : text} />
              {text.length > most && (
                <span className="text-soft"> … {say('moreCharacters', { count: text.length - most })}</span>
              )}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}
