import { EditorState, type EditorStateConfig } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { LOOK } from './create-editor.ts';
import { editorPhrases } from './editor-phrases.ts';

/** One side of a comparison: to read, not to change. */
export function comparison(text: string): EditorStateConfig {
  return {
    doc: text,
    extensions: [
      LOOK,
      editorPhrases(),
      lineNumbers(),
      EditorState.readOnly.of(true),
      EditorView.editable.of(false),
      EditorView.lineWrapping,
    ],
  };
}
