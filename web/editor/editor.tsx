import { X } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { Dialog } from '../show/dialog.tsx';
import { VisibleText } from '../show/visible-text.tsx';
import { useStore } from '../state/store.ts';
import { useWords } from '../words/words.ts';
import { EditorTab } from './editor-tab.tsx';
import { closeTab, lastShown, openTab, tabs } from './open-tabs.ts';

/** Open files, one tab each. A hidden tab keeps its text and its undo history. */
export function Editor({ path, onPath }: { path: string | null; onPath: (path: string | null) => void }): ReactNode {
  const say = useWords();
  const open = useStore(tabs);
  const [asking, setAsking] = useState<string | null>(null);
  useEffect(() => {
    if (path !== null) openTab(path);
  }, [path]);
  const close = (closed: string) => {
    closeTab(closed);
    setAsking(null);
    if (closed === path) onPath(lastShown());
  };
  const nothing = <p className="p-6 text-soft">{say('openFile')}</p>;
  if (open.length === 0) return nothing;
  return (
    <div className="flex h-full flex-col">
      <nav aria-label={say('openFiles')} className="flex shrink-0 overflow-x-auto border-line border-b bg-raised">
        {open.map((tab) => (
          <div
            key={tab.path}
            className={`flex items-center border-line border-r ${tab.path === path ? 'bg-panel font-semibold' : ''}`}
          >
            <button
              type="button"
              aria-current={tab.path === path ? 'page' : undefined}
              title={tab.path}
              className="min-h-10 max-w-56 truncate px-3 text-sm"
              onClick={() => onPath(tab.path)}
            >
              <VisibleText text={tab.path.slice(tab.path.lastIndexOf('/') + 1)} />
              {tab.dirty && <span title={say('unsaved')}> ●</span>}
            </button>
            <button
              type="button"
              aria-label={say('closeTab', { name: tab.path })}
              className="mr-1 rounded p-1 hover:bg-raised"
              onClick={() => (tab.dirty ? setAsking(tab.path) : close(tab.path))}
            >
              <X size={14} aria-hidden />
            </button>
          </div>
        ))}
      </nav>
      {path === null && nothing}
      {open.map((tab) => (
        <div key={tab.path} hidden={tab.path !== path} className="min-h-0 flex-1">
          <EditorTab path={tab.path} shown={tab.path === path} />
        </div>
      ))}
      {asking !== null && (
        <Dialog title={say('discardTitle', { name: asking })} onClose={() => setAsking(null)}>
          <div className="flex gap-2">
            <button type="button" className="button" onClick={() => setAsking(null)}>
              {say('keepEditing')}
            </button>
            <button type="button" className="button danger" onClick={() => close(asking)}>
              {say('discard')}
            </button>
          </div>
        </Dialog>
      )}
    </div>
  );
}
