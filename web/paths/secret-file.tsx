import { EditorView } from '@codemirror/view';
import { EyeOff, KeyRound } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { SecretTextView } from '../../src/protocol/files.ts';
import type { SecretPath } from '../../src/protocol/secret-path.ts';
import { api, messageOf } from '../api/api.ts';
import { createEditor } from '../editor/create-editor.ts';
import { Dialog } from '../show/dialog.tsx';
import { Trouble } from '../show/trouble.tsx';
import { VisibleText } from '../show/visible-text.tsx';
import { health } from '../state/server-state.ts';
import { useStore } from '../state/store.ts';
import { useServerWords, useWords } from '../words/words.ts';
import { FreePath } from './free-path.tsx';
import { useShownWorkspace } from './path-decisions.ts';

interface SecretFileProps {
  /** As it was opened. */
  readonly path: string;
  readonly secret: SecretPath;
  /** The server's refusal. */
  readonly message: string;
  /** The file is in front. Once it is not, its text is forgotten. */
  readonly shown: boolean;
}

/** A file that is kept from tools. Its text is shown to an admin who asks for it, until they leave the file. */
export function SecretFile({ path, secret, message, shown }: SecretFileProps): ReactNode {
  const say = useWords();
  const told = useServerWords();
  const workspace = useShownWorkspace();
  const isAdmin = useStore(health)?.you.role === 'admin';
  const [asking, setAsking] = useState(false);
  const [text, setText] = useState<SecretTextView | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  useEffect(() => {
    if (!shown) setText(null);
  }, [shown]);
  const read = async () => {
    setAsking(false);
    setTrouble(null);
    try {
      setText(await api('readSecret', { body: { path, workspace } }));
    } catch (error) {
      setTrouble(messageOf(error));
    }
  };
  if (text !== null) return <ShownSecret text={text} onHide={() => setText(null)} />;
  return (
    <div className="flex max-w-3xl flex-col gap-3 overflow-auto p-4">
      <p className="flex items-start gap-2">
        <KeyRound size={18} aria-hidden className="mt-1 shrink-0 text-warn" />
        <span className="min-w-0 [overflow-wrap:anywhere]">
          <VisibleText text={told(message)} />
        </span>
      </p>
      {secret.reason === 'secret' && <FreePath path={secret.path} workspace={workspace} />}
      {isAdmin && (
        <button type="button" className="button w-fit" onClick={() => setAsking(true)}>
          {say('showSecret')}
        </button>
      )}
      <Trouble text={trouble} />
      {asking && (
        <Dialog title={say('showSecretTitle', { path })} onClose={() => setAsking(false)}>
          <p className="mb-4">{say('showSecretText')}</p>
          <div className="flex flex-wrap justify-end gap-2">
            <button type="button" className="button" onClick={() => setAsking(false)}>
              {say('cancel')}
            </button>
            <button type="button" className="button primary" onClick={() => void read()}>
              {say('showSecretYes')}
            </button>
          </div>
        </Dialog>
      )}
    </div>
  );
}

function ShownSecret({ text, onHide }: { text: SecretTextView; onHide: () => void }): ReactNode {
  const say = useWords();
  const place = useRef<HTMLDivElement>(null);
  const { path, content, encoding } = text;
  useEffect(() => {
    if (place.current === null) return;
    const more = [EditorView.lineWrapping];
    const view = createEditor(place.current, { text: content, path, label: path, readOnly: true, more });
    return () => view.destroy();
  }, [content, path]);
  return (
    <div className="flex h-full flex-col">
      <div
        role="status"
        className="flex shrink-0 flex-wrap items-center gap-2 border-line border-b bg-warn-back px-3 py-1 text-sm text-warn"
      >
        <KeyRound size={16} aria-hidden className="shrink-0" />
        <span className="font-semibold">{say('secretShown')}</span>
        <span className="min-w-0 flex-1 truncate">
          {path} · {encoding} · {say('readOnly')}
        </span>
        <button type="button" className="button" onClick={onHide}>
          <EyeOff size={16} aria-hidden />
          {say('hideSecret')}
        </button>
      </div>
      <div ref={place} className="min-h-0 flex-1 overflow-auto" />
    </div>
  );
}
