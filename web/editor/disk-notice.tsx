import { MergeView } from '@codemirror/merge';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { FileContent } from '../../src/protocol/files.ts';
import { Dialog } from '../show/dialog.tsx';
import { clock } from '../show/format.ts';
import type { Changer } from '../state/change-authors.ts';
import { useStore } from '../state/store.ts';
import { type Say, language as shownLanguage, useWords } from '../words/words.ts';
import { comparison } from './comparison.ts';
import { ownRoot } from './create-editor.ts';

export type DiskChange = { readonly path: string; readonly who: Changer; readonly at: number } & (
  | { readonly kind: 'followed' | 'deleted' }
  | { readonly kind: 'conflict' | 'binary'; readonly theirs: FileContent }
);

/** Says that the file changed on disk, and by whom. With unsaved text it offers: keep mine, take theirs, compare. */
export function DiskNotice({
  change,
  mine,
  onKeepMine,
  onTakeTheirs,
  onClose,
}: {
  change: DiskChange;
  mine: () => string;
  /** Over theirs; null: over nothing, since the file is gone. */
  onKeepMine: (theirs: FileContent | null) => void;
  onTakeTheirs: (theirs: FileContent) => void;
  onClose: () => void;
}): ReactNode {
  const say = useWords();
  const language = useStore(shownLanguage);
  const [comparing, setComparing] = useState(false);
  const { path, who, at, kind } = change;
  const key = SENTENCES[kind];
  return (
    <>
      <div role="alert" className="flex flex-wrap items-center gap-2 bg-warn-back px-3 py-2 text-sm text-warn">
        <span className="min-w-48 flex-1">{say(key, { path, who: whoText(say, who), time: clock(at, language) })}</span>
        {change.kind === 'conflict' ? (
          <>
            <button type="button" className="button" onClick={() => setComparing(true)}>
              {say('compare')}
            </button>
            <button type="button" className="button" onClick={() => onKeepMine(change.theirs)}>
              {say('keepMine')}
            </button>
            <button type="button" className="button" onClick={() => onTakeTheirs(change.theirs)}>
              {say('takeTheirs')}
            </button>
          </>
        ) : (
          <>
            {change.kind !== 'followed' && (
              <button
                type="button"
                className="button"
                onClick={() => onKeepMine(change.kind === 'binary' ? change.theirs : null)}
              >
                {say('keepMine')}
              </button>
            )}
            <button type="button" className="button" onClick={onClose}>
              {say('close')}
            </button>
          </>
        )}
      </div>
      {comparing && change.kind === 'conflict' && (
        <Dialog wide title={say('compare')} onClose={() => setComparing(false)}>
          <Comparison theirs={change.theirs.content} mine={mine()} />
        </Dialog>
      )}
    </>
  );
}

const SENTENCES = {
  followed: 'followedDisk',
  deleted: 'deletedOnDisk',
  conflict: 'changedOnDisk',
  binary: 'binaryOnDisk',
} as const;

function whoText(say: Say, who: Changer): string {
  if (who === null) return say('somebodyElse');
  return who === 'person' ? say('personInEditor') : who.tool;
}

function Comparison({ theirs, mine }: { theirs: string; mine: string }): ReactNode {
  const say = useWords();
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (place.current === null) return;
    const root = ownRoot(place.current);
    const view = new MergeView({ parent: root, root, a: comparison(theirs), b: comparison(mine) });
    return () => view.destroy();
  }, [theirs, mine]);
  return (
    <>
      <p className="grid grid-cols-2 font-semibold text-sm">
        <span>{say('theirs')}</span>
        <span>{say('mine')}</span>
      </p>
      <div ref={place} className="max-h-[60dvh] overflow-auto rounded border border-line" />
    </>
  );
}
