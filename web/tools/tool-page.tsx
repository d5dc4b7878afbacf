import { ArrowLeft } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import type { ToolView } from '../../src/protocol/tools.ts';
import { api, messageOf } from '../api/api.ts';
import { ToolForm } from '../chat/tool-form.tsx';
import { go } from '../shell/route.ts';
import { CopyButton } from '../show/copy-button.tsx';
import { Trouble } from '../show/trouble.tsx';
import { currentSession, loadSessions, openSession } from '../state/server-state.ts';
import { useWords } from '../words/words.ts';
import { formatErrorRate, formatTimes, type ToolStatistics } from './tool-statistics.ts';
import { ToolSwitch } from './tool-switch.tsx';

const FORMATS = ['openai', 'openai-responses', 'anthropic', 'json-schema'] as const;

export function ToolPage({ tool, figures }: { tool: ToolView; figures: ToolStatistics | undefined }): ReactNode {
  const say = useWords();
  const [trying, setTrying] = useState(false);
  return (
    <div className="h-full overflow-auto p-4">
      <button type="button" className="button plain" onClick={() => go('tools')}>
        <ArrowLeft size={16} aria-hidden />
        {say('tools')}
      </button>
      <div className="mt-2 flex max-w-4xl flex-col gap-4">
        <div className="flex flex-wrap items-center gap-4">
          <h1 className="font-mono font-semibold text-xl">{tool.name}</h1>
          <ToolSwitch tool={tool} />
          {figures !== undefined && (
            <span className="text-soft text-sm">
              {say('calls')}: {figures.calls} · {say('errorRate')}: {formatErrorRate(figures)} · p50 / p95:{' '}
              {formatTimes(figures)}
            </span>
          )}
        </div>
        <p>{tool.description}</p>
        <p className="text-soft text-sm">
          {say('category')}: {tool.category} · {say('source')}: {tool.source}
        </p>
        {trying ? (
          <ToolForm tool={tool} session={trySession} onClose={() => go('chat')} />
        ) : (
          <button
            type="button"
            className="button primary w-fit"
            disabled={!tool.enabled}
            onClick={() => setTrying(true)}
          >
            {say('tryIt')}
          </button>
        )}
        <Schemas name={tool.name} />
      </div>
    </div>
  );
}

function Schemas({ name }: { name: string }): ReactNode {
  const say = useWords();
  const [format, setFormat] = useState<string>(FORMATS[0]);
  const [text, setText] = useState('');
  const [trouble, setTrouble] = useState<string | null>(null);
  useEffect(() => {
    let current = true;
    api('listSchemas', { query: { format } }).then(
      ({ items }) => current && setText(JSON.stringify(items.find((item) => mentions(item, name)) ?? null, null, 2)),
      (error) => current && setTrouble(messageOf(error)),
    );
    return () => {
      current = false;
    };
  }, [format, name]);
  return (
    <section aria-label={say('schema')}>
      <div className="mb-1 flex items-center gap-2">
        <label className="flex items-center gap-2 font-semibold text-sm">
          {say('schema')}
          <select className="field w-auto" value={format} onChange={({ target }) => setFormat(target.value)}>
            {FORMATS.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <CopyButton text={text} />
      </div>
      <Trouble text={trouble} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
      <pre tabIndex={0} className="code max-h-96 overflow-auto rounded-lg bg-raised p-3">
        {text}
      </pre>
    </section>
  );
}

/** Whether a schema is the tool's. Formats put the name at different depths. */
function mentions(item: Record<string, unknown>, name: string): boolean {
  const inner = item['function'] as { name?: unknown } | undefined;
  return item['name'] === name || item['title'] === name || inner?.name === name;
}

async function trySession(): Promise<string> {
  const open = currentSession.get();
  if (open !== null) return open;
  const { id } = await api('createSession', { body: {} });
  await loadSessions();
  await openSession(id);
  return id;
}
