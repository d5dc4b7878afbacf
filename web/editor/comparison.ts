import { EditorState, type EditorStateConfig } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { editorPhrases } from './editor-phrases.ts';

/** One side of a comparison: to read, not to change. */
export function comparison(text: string): EditorStateConfig {
  const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? '';
  return {
    doc: text,
    extensions: [
      EditorView.cspNonce.of(nonce),
      editorPhrases(),
      lineNumbers(),
      EditorState.readOnly.of(true),
      EditorView.editable.of(false),
      EditorView.lineWrapping,
    ],
  };
}
