import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import {
  bracketMatching,
  defaultHighlightStyle,
  HighlightStyle,
  type LanguageSupport,
  syntaxHighlighting,
} from '@codemirror/language';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, type Extension, Text } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { editorPhrases } from './editor-phrases.ts';

export interface EditorOptions {
  readonly text: string;
  readonly path: string;
  /** For screen readers. */
  readonly label: string;
  readonly readOnly?: boolean;
  readonly more?: readonly Extension[];
}

/** Creates an editor with the page's settings. Syntax colours follow when the grammar has loaded. */
export function createEditor(
  parent: HTMLElement,
  { text, path, label, readOnly, more = [] }: EditorOptions,
): EditorView {
  const language = new Compartment();
  const view = new EditorView({
    parent: openShadowRoot(parent),
    state: EditorState.create({
      doc: text,
      extensions: [
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        editorPhrases(),
        lineNumbers(),
        highlightSpecialChars(),
        highlightActiveLine(),
        highlightSelectionMatches(),
        history(),
        drawSelection(),
        bracketMatching(),
        syntaxHighlighting(COLOURS),
        ...(/\.(md|txt|rst)$/i.test(path) ? [EditorView.lineWrapping] : []),
        keymap.of([...defaultKeymap, ...searchKeymap, ...historyKeymap, indentWithTab]),
        EditorState.readOnly.of(readOnly ?? false),
        lineSeparator.of(EditorState.lineSeparator.of(lineSeparatorOf(text))),
        EDITOR_THEME,
        language.of([]),
        ...more,
      ],
    }),
  });
  void grammarOf(path).then((grammar) => {
    if (grammar !== null && view.dom.isConnected) view.dispatch({ effects: language.reconfigure(grammar) });
  });
  return view;
}

/** Replaces the whole text and takes over its line separator. */
export function replaceText(view: EditorView, text: string): void {
  const ends = lineSeparatorOf(text);
  view.dispatch({
    changes: { from: 0, to: view.state.doc.length, insert: Text.of(text.split(ends)) },
    effects: lineSeparator.reconfigure(EditorState.lineSeparator.of(ends)),
  });
}

const lineSeparator = new Compartment();

function lineSeparatorOf(text: string): string {
  return text.includes('\r\n') && !/(^|[^\r])\n/.test(text) ? '\r\n' : '\n';
}

/** Opens a shadow root, where styles are objects: the page's content security policy allows no style elements. */
export function openShadowRoot(element: HTMLElement): ShadowRoot {
  return element.shadowRoot ?? element.attachShadow({ mode: 'open' });
}

async function grammarOf(path: string): Promise<LanguageSupport | null> {
  const ending = path.slice(path.lastIndexOf('.') + 1).toLowerCase();
  if (/^[cm]?[jt]sx?$/.test(ending)) {
    const { javascript } = await import('@codemirror/lang-javascript');
    return javascript({ jsx: ending.endsWith('x'), typescript: ending.includes('t') });
  }
  if (ending === 'py') return (await import('@codemirror/lang-python')).python();
  if (ending === 'json') return (await import('@codemirror/lang-json')).json();
  if (ending === 'css') return (await import('@codemirror/lang-css')).css();
  if (ending === 'html' || ending === 'htm') return (await import('@codemirror/lang-html')).html();
  if (ending === 'md') return (await import('@codemirror/lang-markdown')).markdown();
  return null;
}

/** The default colours, mixed with the theme's text colour until they are readable on its background. */
const COLOURS = HighlightStyle.define(
  defaultHighlightStyle.specs.map(({ color, ...rest }) => ({
    ...rest,
    ...(color !== undefined && { color: `color-mix(in srgb, ${color} var(--code-share), var(--ink))` }),
  })),
);

export const EDITOR_THEME = EditorView.theme({
  '&': { fontSize: '13px', backgroundColor: 'var(--panel)', color: 'var(--ink)', height: '100%' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)' },
  '.cm-gutters': { backgroundColor: 'var(--raised)', color: 'var(--soft)', border: 'none' },
  '.cm-panels': { backgroundColor: 'var(--raised)', color: 'var(--ink)' },
  '.cm-panels-bottom': { borderTop: '1px solid var(--line)' },
  '.cm-textfield, .cm-button': { background: 'var(--panel)', border: '1px solid var(--line)', color: 'var(--ink)' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'color-mix(in srgb, var(--accent) 8%, transparent)' },
  '&.cm-focused .cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 30%, transparent) !important',
  },
  '.cm-deletedChunk': { backgroundColor: 'color-mix(in srgb, var(--bad) 12%, transparent)' },
  '.cm-changedLine': { backgroundColor: 'color-mix(in srgb, var(--good) 12%, transparent)' },
});
