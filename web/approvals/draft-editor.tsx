import { unifiedMergeView } from '@codemirror/merge';
import { Prec } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { type ReactNode, useEffect, useRef } from 'react';
import { createEditor } from '../editor/create-editor.ts';
import { useWords } from '../words/words.ts';

const SETTLE_MS = 300;

/** The dialog's key for yes; an editor would begin a new line with it. */
const ANSWERS = Prec.highest(keymap.of([{ key: 'Mod-Enter', run: () => true }]));

/**
 * The change as it would be made: each hunk can be taken or left, and the new text edited. What stands in it when one
 * says yes is what is written.
 */
export function DraftEditor({
  draft,
  onChange,
  onText,
}: {
  draft: { path: string; before: string; after: string };
  /** At once: until `onText` has told the new text, there is nothing to say yes to. */
  onChange: () => void;
  onText: (text: string) => void;
}): ReactNode {
  const say = useWords();
  const place = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor lives as long as the draft
  useEffect(() => {
    if (place.current === null) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const tell = EditorView.updateListener.of(({ docChanged, state }) => {
      if (!docChanged) return;
      onChange();
      clearTimeout(timer);
      timer = setTimeout(() => onText(state.sliceDoc()), SETTLE_MS);
    });
    const view = createEditor(place.current, {
      text: draft.after,
      path: draft.path,
      label: draft.path,
      more: [tell, ANSWERS, unifiedMergeView({ original: draft.before, mergeControls: true })],
    });
    return () => {
      clearTimeout(timer);
      view.destroy();
    };
  }, [draft]);
  return (
    <div>
      <p className="code text-soft">
        {say('edit')}: {draft.path}
      </p>
      <div ref={place} className="max-h-[45dvh] overflow-y-auto rounded border border-line" />
    </div>
  );
}
