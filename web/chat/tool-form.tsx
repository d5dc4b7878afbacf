import { Play, X } from 'lucide-react';
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import type { ToolView } from '../../src/protocol/tools.ts';
import { api, messageOf } from '../api/api.ts';
import { isComposing } from '../show/input-method.ts';
import { type FormSchema, SchemaForm } from '../show/schema-form.tsx';
import { Trouble } from '../show/trouble.tsx';
import { useStore } from '../state/store.ts';
import { useWords } from '../words/words.ts';
import { dropToolDraft, toolDrafts, writeToolDraft } from './drafts.ts';

/** The form for a tool call by a person, which takes the same pipeline, policy and approvals as an agent's call. */
export function ToolForm({
  tool,
  session,
  onClose,
}: {
  tool: ToolView;
  session: () => Promise<string>;
  onClose: () => void;
}): ReactNode {
  const say = useWords();
  const [schema, setSchema] = useState<FormSchema | null>(null);
  const draft = useStore(toolDrafts).get(tool.name);
  const [busy, setBusy] = useState(false);
  const [broken, setBroken] = useState(false);
  const [trouble, setTrouble] = useState<string | null>(null);
  useEffect(() => {
    if (!toolDrafts.get().has(tool.name)) writeToolDraft(tool.name, {});
    api('getTool', { at: { name: tool.name } }).then(
      ({ inputSchema }) => setSchema(inputSchema as FormSchema),
      (error) => setTrouble(messageOf(error)),
    );
  }, [tool.name]);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (schema !== null) form.current?.querySelector<HTMLElement>('textarea, input, select')?.focus();
  }, [schema]);
  const close = () => {
    dropToolDraft(tool.name);
    onClose();
  };
  const run = async (event?: FormEvent) => {
    event?.preventDefault();
    if (busy || broken || draft === undefined) return;
    setBusy(true);
    setTrouble(null);
    try {
      const { values, key } = draft;
      const id = await session();
      await api('startCall', { body: { tool: tool.name, args: values, session: id, key, wait: false } });
      close();
    } catch (error) {
      setTrouble(messageOf(error));
      setBusy(false);
    }
  };
  return (
    <form
      aria-label={tool.name}
      onSubmit={(event) => void run(event)}
      ref={form}
      onKeyDown={({ key, ctrlKey, metaKey, nativeEvent }) => {
        if (isComposing(nativeEvent)) return;
        // Escape keeps the draft for the next time; the close button drops it.
        if (key === 'Escape') onClose();
        if (key === 'Enter' && (ctrlKey || metaKey)) void run();
      }}
      className="mb-2 max-h-[50dvh] overflow-y-auto rounded-lg border border-line bg-page p-3"
    >
      <div className="mb-2 flex items-center gap-2">
        <code className="font-mono font-semibold">/{tool.name}</code>
        <span className="min-w-0 flex-1 truncate text-soft text-sm">{tool.description}</span>
        <button type="button" className="button plain" aria-label={say('cancel')} onClick={close}>
          <X size={18} aria-hidden />
        </button>
      </div>
      {schema !== null && draft !== undefined && (
        <SchemaForm
          schema={schema}
          values={draft.values}
          onChange={(values) => writeToolDraft(tool.name, values)}
          onBroken={setBroken}
        />
      )}
      <div className="sticky bottom-[-0.75rem] -mx-3 -mb-3 mt-3 flex flex-col gap-2 border-line border-t bg-page px-3 py-2">
        <Trouble text={trouble} />
        <button type="submit" className="button primary w-fit" disabled={busy || broken}>
          <Play size={16} aria-hidden />
          {say('run')}
        </button>
      </div>
    </form>
  );
}
