import { EditorView, keymap } from '@codemirror/view';
import { Save } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { coalesce } from '../../src/kernel/coalesce.ts';
import type { FileContent } from '../../src/protocol/files.ts';
import { secretPathOf } from '../../src/protocol/secret-path.ts';
import { ApiProblem, api, messageOf } from '../api/api.ts';
import { decisionsAbout, useShownWorkspace } from '../paths/path-decisions.ts';
import { SecretFile } from '../paths/secret-file.tsx';
import { formatBytes } from '../show/format.ts';
import { Trouble } from '../show/trouble.tsx';
import type { ChangeAuthor } from '../state/change-authors.ts';
import { fileChanges, pathDecisions } from '../state/server-state.ts';
import { useStore } from '../state/store.ts';
import { useWords } from '../words/words.ts';
import { createEditor, replaceText } from './create-editor.ts';
import { type DiskChange, DiskNotice } from './disk-notice.tsx';
import { isDirtyTab, markDirty } from './open-tabs.ts';

const MAX_EDITABLE_BYTES = 1024 * 1024;

/** One file in an editor. Each save names the version it is based on, so it never overwrites an unseen change on disk. */
export function EditorTab({ path, shown }: { path: string; shown: boolean }): ReactNode {
  const say = useWords();
  const [file, setFile] = useState<FileContent | null>(null);
  const [trouble, setTrouble] = useState<unknown>(null);
  const decisions = decisionsAbout(useStore(pathDecisions), { path, workspace: useShownWorkspace() });
  const decided = decisions.map(({ id }) => id).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was decided says whether the file may be read
  useEffect(() => {
    // Unsaved text stays: nothing typed is lost.
    if (isDirtyTab(path)) return;
    let isCurrent = true;
    const settle = (next: FileContent | null, error: unknown) => {
      if (!isCurrent) return;
      setFile(next);
      setTrouble(error);
    };
    api('getFile', { query: { path } }).then(
      (found) => settle(found, null),
      (error) => settle(null, error),
    );
    return () => {
      isCurrent = false;
    };
  }, [path, decided]);
  const secret = trouble instanceof ApiProblem ? secretPathOf(trouble.details) : null;
  if (secret !== null) return <SecretFile path={path} secret={secret} message={messageOf(trouble)} shown={shown} />;
  if (trouble !== null) return <Trouble text={messageOf(trouble)} />;
  if (file === null) return null;
  if (file.encoding === 'base64') return <p className="p-4">{say('binaryFile', { size: formatBytes(file.size) })}</p>;
  return <TextTab file={file} />;
}

/** The saved text that the editor's text is based on. The version is null when the file no longer exists. */
interface EditBase {
  readonly text: string;
  readonly version: string | null;
}

function TextTab({ file }: { file: FileContent }): ReactNode {
  const say = useWords();
  const { path } = file;
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const base = useRef<EditBase>({ text: file.content, version: file.version });
  const [disk, setDisk] = useState<DiskChange | null>(null);
  const [said, setSaid] = useState<string | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const changer = useRef<ChangeAuthor>(null);
  const readOnly = file.size > MAX_EDITABLE_BYTES;

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
   * Compares with the file on disk. An editor without unsaved text follows it; otherwise a notice offers the choice. A
   * file that is now binary is never followed: its base64 letters would be saved as text.
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
  // Saves run one after the other: each is based on the version that the previous save made.
  const { current: save } = useRef(coalesce(() => writing.current()));
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
  // Checks run one after the other, so that the notice shows the result read last.
  const { current: look } = useRef(coalesce(() => looking.current()));
  // Subscribed directly: a rendering would see only the last of several changes in one moment.
  useEffect(
    () =>
      fileChanges.subscribe(() => {
        const changes = fileChanges.get();
        if (changes === null || (changes.complete && !changes.authors.has(path))) return;
        changer.current = changes.authors.get(path) ?? null;
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
