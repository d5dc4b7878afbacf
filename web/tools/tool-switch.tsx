import { type ReactNode, useState } from 'react';
import type { ToolView } from '../../src/protocol/tools.ts';
import { api, messageOf } from '../api/api.ts';
import { Trouble } from '../show/trouble.tsx';
import { health, tools } from '../state/server-state.ts';
import { useStore } from '../state/store.ts';
import { useWords } from '../words/words.ts';

export function ToolSwitch({ tool }: { tool: ToolView }): ReactNode {
  const say = useWords();
  const role = useStore(health)?.you.role;
  const [trouble, setTrouble] = useState<string | null>(null);
  const flip = () =>
    api('switchTool', { at: { name: tool.name }, body: { enabled: !tool.enabled } }).then(
      (switched) => tools.set((now) => now.map((one) => (one.name === switched.name ? switched : one))),
      (error) => setTrouble(messageOf(error)),
    );
  return (
    <>
      <button
        type="button"
        role="switch"
        aria-checked={tool.enabled}
        aria-label={say(tool.enabled ? 'switchOff' : 'switchOn', { tool: tool.name })}
        disabled={role !== 'admin'}
        title={role === 'admin' ? undefined : say('needsAdmin')}
        className={`flex min-h-8 items-center gap-2 ${tool.enabled ? 'text-good' : 'text-soft'}`}
        onClick={() => void flip()}
      >
        <span
          aria-hidden
          className={`flex h-5 w-9 rounded-full p-0.5 ${tool.enabled ? 'justify-end bg-good' : 'bg-line'}`}
        >
          <span className="size-4 rounded-full bg-panel" />
        </span>
        {say(tool.enabled ? 'on' : 'off')}
      </button>
      <Trouble text={trouble} />
    </>
  );
}
