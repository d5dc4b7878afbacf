import { unifiedMergeView } from '@codemirror/merge';
import { Prec } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { type ReactNode, useEffect, useRef } from 'react';
import { createEditor } from '../editor/create-editor.ts';
import { useWords } from '../words/words.ts';

const SETTLE_MS = 300;

/** Mod-Enter allows in the dialog; without this the editor would start a new line with it. */
const ANSWERS = Prec.highest(keymap.of([{ key: 'Mod-Enter', run: () => true }]));

/**
 * The proposed change as an editor: each hunk can be accepted or rejected, and the new text edited. The text in it at
 * the moment of approval is the text that is written.
 */
export function DraftEditor({
  draft,
  onChange,
  onText,
}: {
  draft: { path: string; before: string; after: string };
  /** Called at once on each change: until `onText` follows, there is nothing to approve. */
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
