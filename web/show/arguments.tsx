import type { ReactNode } from 'react';
import { useWords } from '../words/words.ts';
import { Visible } from './visible.tsx';

export function Arguments({ args }: { args: unknown }): ReactNode {
  const say = useWords();
  const entries = Object.entries((args ?? {}) as Record<string, unknown>);
  if (entries.length === 0) return null;
  return (
    <dl aria-label={say('arguments')} className="grid grid-cols-[auto_1fr] gap-x-3 gap-y-1 text-sm">
      {entries.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="font-mono text-soft">{name}</dt>
          <dd className="code max-h-48 overflow-y-auto">
            <Visible text={typeof value === 'string' ? value : (JSON.stringify(value, null, 1) ?? '')} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
