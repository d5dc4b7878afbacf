import { EditorView, keymap } from '@codemirror/view';
import { Save } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { FileContent } from '../../src/protocol/files.ts';
import { ApiProblem, api, messageOf } from '../api/api.ts';
import { bytes } from '../show/format.ts';
import { Trouble } from '../show/trouble.tsx';
import type { Changer } from '../state/change-authors.ts';
import { fileChanges } from '../state/server-state.ts';
import { oneAtATime } from '../state/one-at-a-time.ts';
import { useWords } from '../words/words.ts';
import { createEditor, replaceText } from './create-editor.ts';
import { type DiskChange, DiskNotice } from './disk-notice.tsx';
import { markDirty } from './open-tabs.ts';

const LARGEST = 1024 * 1024;

/** One file. What is on disk is never taken for what is in the editor: each save names the version it is based on. */
export function EditorTab({ path }: { path: string }): ReactNode {
  const say = useWords();
  const [file, setFile] = useState<FileContent | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  useEffect(() => {
    api('getFile', { query: { path } }).then(setFile, (error) => setTrouble(messageOf(error)));
  }, [path]);
  if (trouble !== null) return <Trouble text={trouble} />;
  if (file === null) return null;
  if (file.encoding === 'base64') return <p className="p-4">{say('binaryFile', { size: bytes(file.size) })}</p>;
  return <TextTab file={file} />;
}

/** What the text is a change of. Without a version: a file that is no longer there. */
interface Base {
  readonly text: string;
  readonly version: string | null;
}

function TextTab({ file }: { file: FileContent }): ReactNode {
  const say = useWords();
  const { path } = file;
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const base = useRef<Base>({ text: file.content, version: file.version });
  const [disk, setDisk] = useState<DiskChange | null>(null);
  const [said, setSaid] = useState<string | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const changer = useRef<Changer>(null);
  const readOnly = file.size > LARGEST;

  const text = () => view.current?.state.sliceDoc() ?? '';
  const isDirty = () => text() !== base.current.text;

  async function write(): Promise<void> {
    const content = text();
    const { version } = base.current;
    const headers: Record<string, string> =
      version === null ? { 'if-none-match': '*' } : { 'if-match': `"${version}"` };
    try {
      const saved = await api('saveFile', { query: { path }, headers, body: { content } });
      base.current = { text: content, version: saved.version };
      markDirty(path, isDirty());
      setDisk(null);
      setTrouble(null);
      setSaid(say('saved'));
    } catch (error) {
      if (error instanceof ApiProblem && error.code === 'PRECONDITION_FAILED') await lookAtDisk();
      else setTrouble(messageOf(error));
    }
  }

  /**
   * What is on disk now. An editor without unsaved text follows it; the others say so and leave the choice. What is no
   * text is followed by none: it would be saved as the letters it came in.
   */
  async function lookAtDisk(): Promise<void> {
    const about = { path, who: changer.current, at: Date.now() };
    try {
      const now = await api('getFile', { query: { path } });
      if (now.version === base.current.version) return setDisk((told) => (told?.kind === 'followed' ? told : null));
      if (now.encoding === 'base64') return setDisk({ ...about, kind: 'binary', theirs: now });
      if (isDirty()) return setDisk({ ...about, kind: 'conflict', theirs: now });
      take(now);
      setDisk({ ...about, kind: 'followed' });
    } catch (error) {
      if (error instanceof ApiProblem && error.code === 'FILE_NOT_FOUND') setDisk({ ...about, kind: 'deleted' });
      else setTrouble(messageOf(error));
    }
  }

  function take({ content, version }: FileContent): void {
    base.current = { text: content, version };
    if (view.current !== null) replaceText(view.current, content);
    markDirty(path, false);
    setDisk(null);
  }

  const writing = useRef(write);
  writing.current = write;
  // One after the other: a save is based on the version that the one before it made.
  const { current: save } = useRef(oneAtATime(() => writing.current()));
  const keepMine = (theirs: FileContent | null) => {
    base.current = { text: theirs?.content ?? '', version: theirs?.version ?? null };
    void save();
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor lives as long as the tab
  useEffect(() => {
    if (place.current === null) return;
    const saveNow = () => {
      void save();
      return true;
    };
    const onSave = keymap.of([{ key: 'Mod-s', preventDefault: true, run: saveNow }]);
    const onChange = EditorView.updateListener.of(({ docChanged }) => {
      if (!docChanged) return;
      markDirty(path, isDirty());
      setSaid(null);
    });
    const options = { text: file.content, path, label: path, readOnly, more: [onSave, onChange] };
    view.current = createEditor(place.current, options);
    return () => view.current?.destroy();
  }, []);
  const looking = useRef(lookAtDisk);
  looking.current = lookAtDisk;
  // One after the other: what was read last is what is said.
  const { current: look } = useRef(oneAtATime(() => looking.current()));
  // Not through a rendering: of several changes in one moment that would show the last alone.
  useEffect(
    () =>
      fileChanges.subscribe(() => {
        const changes = fileChanges.get();
        if (changes === null || (changes.complete && !changes.by.has(path))) return;
        changer.current = changes.by.get(path) ?? null;
        void look();
      }),
    [path, look],
  );

  return (
    <div className="flex h-full flex-col">
      <div className="flex shrink-0 flex-wrap items-center gap-2 border-line border-b px-3 py-1 text-sm">
        <span className="min-w-0 flex-1 truncate text-soft">
          {path} · {file.encoding}
          {readOnly && ` · ${say('readOnly')}: ${say('tooLargeToEdit')}`}
        </span>
        <span role="status" className="text-good">
          {said}
        </span>
        <button type="button" className="button" disabled={readOnly} onClick={() => void save()}>
          <Save size={16} aria-hidden />
          {say('save')}
        </button>
      </div>
      <Trouble text={trouble} />
      {disk !== null && (
        <DiskNotice change={disk} mine={text} onKeepMine={keepMine} onTakeTheirs={take} onClose={() => setDisk(null)} />
      )}
      <div ref={place} className="min-h-0 flex-1 overflow-auto" />
    </div>
  );
}
