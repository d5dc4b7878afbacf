import { type ReactNode, type RefObject, useEffect, useState } from 'react';
import type { ToolView } from '../../src/protocol/tools.ts';
import { isComposing } from '../show/input-method.ts';
import { useWords } from '../words/words.ts';

/**
 * The list of matching tools. Arrow keys move and Enter chooses while the focus stays in the composer; `onMove` gets the
 * id of the current entry.
 */
export function ToolPicker({
  found,
  box,
  onMove,
  onChoose,
}: {
  found: readonly ToolView[];
  box: RefObject<HTMLElement | null>;
  onMove: (entry: string | undefined) => void;
  onChoose: (tool: ToolView) => void;
}): ReactNode {
  const say = useWords();
  const [at, setAt] = useState(0);
  const chosen = found[Math.min(at, found.length - 1)];
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isComposing(event) || document.activeElement !== box.current) return;
      if (event.key === 'ArrowDown') setAt((now) => Math.min(now + 1, found.length - 1));
      else if (event.key === 'ArrowUp') setAt((now) => Math.max(0, Math.min(now, found.length - 1) - 1));
      else if (event.key === 'Enter' && chosen?.enabled) onChoose(chosen);
      else return;
      event.preventDefault();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  });
  const entry = chosen && entryOf(chosen);
  useEffect(() => {
    onMove(entry);
    document.getElementById(entry ?? '')?.scrollIntoView({ block: 'nearest' });
    return () => onMove(undefined);
  }, [entry, onMove]);
  return (
    <ul
      aria-label={say('tools')}
      className="absolute inset-x-0 bottom-full z-10 mb-1 max-h-72 overflow-y-auto rounded-lg border border-line bg-panel shadow-lg"
    >
      {found.map((tool) => (
        <li key={tool.name}>
          <button
            type="button"
            id={entryOf(tool)}
            disabled={!tool.enabled}
            aria-current={tool === chosen}
            onClick={() => onChoose(tool)}
            className="flex min-h-11 w-full items-center gap-2 px-3 py-1 text-left aria-[current=true]:bg-raised"
          >
            <code className="font-mono">/{tool.name}</code>
            <span className="min-w-0 flex-1 truncate text-soft text-sm">{tool.description}</span>
            {!tool.enabled && <span className="text-bad text-sm">{say('disabledTool')}</span>}
          </button>
        </li>
      ))}
    </ul>
  );
}

function entryOf({ name }: ToolView): string {
  return `pick-${name}`;
}
