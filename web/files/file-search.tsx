import { type ReactNode, useEffect, useState } from 'react';
import { api } from '../api/api.ts';
import { VisibleText } from '../show/visible-text.tsx';
import { useWords } from '../words/words.ts';

const SETTLE_MS = 200;

/** Finds files of the whole workspace by a part of their name. */
export function FileSearch({ text, onOpen }: { text: string; onOpen: (path: string) => void }): ReactNode {
  const say = useWords();
  const [found, setFound] = useState<readonly string[] | null>(null);
  useEffect(() => {
    let current = true;
    const timer = setTimeout(async () => {
      const tree = await api('listFiles', { query: { recursive: 'true', limit: 10_000 } }).catch(() => null);
      const wanted = text.trim().toLowerCase();
      const files = (tree?.entries ?? []).filter(({ type }) => type === 'file').map(({ name }) => name);
      if (current) setFound(files.filter((name) => name.toLowerCase().includes(wanted)).slice(0, 200));
    }, SETTLE_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [text]);
  if (found === null) return null;
  if (found.length === 0) return <p className="px-3 text-soft text-sm">{say('noFileFound')}</p>;
  return (
    <ul aria-label={say('searchFiles')}>
      {found.map((path) => (
        <li key={path}>
          <button
            type="button"
            className="min-h-8 w-full truncate px-3 text-left text-sm hover:bg-raised"
            onClick={() => onOpen(path)}
          >
            <VisibleText text={path} />
          </button>
        </li>
      ))}
    </ul>
  );
}
