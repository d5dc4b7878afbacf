import { MergeView } from '@codemirror/merge';
import { EditorState, type EditorStateConfig } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { FileContent } from '../../src/protocol/files.ts';
import { Dialog } from '../show/dialog.tsx';
import { formatTime } from '../show/format.ts';
import type { ChangeAuthor } from '../state/change-authors.ts';
import { useStore } from '../state/store.ts';
import { language as shownLanguage, type Translate, useWords } from '../words/words.ts';
import { EDITOR_THEME, openShadowRoot } from './create-editor.ts';
import { editorPhrases } from './editor-phrases.ts';

export type DiskChange = { readonly path: string; readonly who: ChangeAuthor; readonly at: number } & (
  | { readonly kind: 'followed' | 'deleted' }
  | { readonly kind: 'conflict' | 'binary'; readonly theirs: FileContent }
);

/** Reports that the file changed on disk, and by whom. With unsaved text it offers "Keep mine", "Take theirs", "Compare". */
export function DiskNotice({
  change,
  mine,
  onKeepMine,
  onTakeTheirs,
  onClose,
}: {
  change: DiskChange;
  mine: () => string;
  /** Gets the content to overwrite, or null when the file was deleted. */
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
        <span className="min-w-48 flex-1">
          {say(key, { path, who: formatAuthor(say, who), time: formatTime(at, language) })}
        </span>
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

function formatAuthor(say: Translate, who: ChangeAuthor): string {
  if (who === null) return say('somebodyElse');
  return who === 'person' ? say('personInEditor') : who.tool;
}

function Comparison({ theirs, mine }: { theirs: string; mine: string }): ReactNode {
  const say = useWords();
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (place.current === null) return;
    const root = openShadowRoot(place.current);
    const view = new MergeView({ parent: root, root, a: comparedSide(theirs), b: comparedSide(mine) });
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

/** One read-only side of a comparison. */
function comparedSide(text: string): EditorStateConfig {
  return {
    doc: text,
    extensions: [
      EDITOR_THEME,
      editorPhrases(),
      lineNumbers(),
      EditorState.readOnly.of(true),
      EditorView.editable.of(false),
      EditorView.lineWrapping,
    ],
  };
}
