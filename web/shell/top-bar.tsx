import { Bot, Box, CircleAlert, Languages, Moon, Sun, SunMoon } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { Health } from '../../src/protocol/health.ts';
import { WorkspaceDialog } from '../paths/workspace-dialog.tsx';
import { connection, health } from '../state/server-state.ts';
import { useStore } from '../state/store.ts';
import { setLanguage, language as shownLanguage, useServerWords, useWords } from '../words/words.ts';
import { ModeSwitch } from './mode-switch.tsx';
import { ModelDialog } from './model-dialog.tsx';
import { setTheme, theme as shownTheme } from './theme.ts';

export function TopBar(): ReactNode {
  const say = useWords();
  const state = useStore(health);
  const language = useStore(shownLanguage);
  const [choosing, setChoosing] = useState(false);
  const [deciding, setDeciding] = useState(false);
  const workspace = state?.workspaces[0];
  return (
    <header className="flex h-13 shrink-0 items-center gap-2 border-line border-b bg-panel px-3 text-sm sm:gap-3">
      <strong className="text-base">Toolwright</strong>
      {workspace && (
        <button
          type="button"
          className="min-h-9 min-w-0 max-w-[30vw] truncate text-soft underline decoration-dotted"
          title={say('workspaceSettings', { name: workspace.name })}
          onClick={() => setDeciding(true)}
        >
          {workspace.name}
        </button>
      )}
      {workspace && <SandboxState {...workspace} />}
      <button type="button" className="button plain min-w-0" title={say('model')} onClick={() => setChoosing(true)}>
        <Bot size={16} aria-hidden className="shrink-0" />
        <span className="sr-only truncate md:not-sr-only">{state && (state.model ?? say('manualMode'))}</span>
      </button>
      <ConnectionState />
      <ModeSwitch />
      <button
        type="button"
        className="button plain px-1.5"
        aria-label={say('language')}
        title={say('language')}
        onClick={() => setLanguage(language === 'en' ? 'zh' : 'en')}
      >
        <Languages size={18} aria-hidden />
        <span className="hidden sm:inline">{language === 'en' ? '中文' : 'English'}</span>
      </button>
      <ThemeButton />
      {choosing && <ModelDialog onClose={() => setChoosing(false)} />}
      {deciding && <WorkspaceDialog onClose={() => setDeciding(false)} />}
    </header>
  );
}

function SandboxState({ sandbox, trouble }: Health['workspaces'][number]): ReactNode {
  const say = useWords();
  const said = useServerWords();
  if (trouble === null)
    return (
      <span className="hidden shrink-0 items-center gap-1 text-soft lg:flex">
        <Box size={16} aria-hidden />
        {sandbox}
      </span>
    );
  return (
    <span className="flex shrink-0 items-center gap-1 text-bad" title={said(trouble)}>
      <CircleAlert size={16} aria-hidden />
      <span className="sr-only lg:not-sr-only">{say(sandbox === 'none' ? 'sandboxNone' : 'sandboxMissing')}</span>
    </span>
  );
}

const THEMES = {
  system: { Icon: SunMoon, word: 'themeSystem', next: 'light' },
  light: { Icon: Sun, word: 'themeLight', next: 'dark' },
  dark: { Icon: Moon, word: 'themeDark', next: 'system' },
} as const;

function ThemeButton(): ReactNode {
  const say = useWords();
  const { Icon, word, next } = THEMES[useStore(shownTheme)];
  const name = `${say('theme')}: ${say(word)}`;
  return (
    <button type="button" className="button plain px-1.5" aria-label={name} title={name} onClick={() => setTheme(next)}>
      <Icon size={18} aria-hidden />
    </button>
  );
}

function ConnectionState(): ReactNode {
  const say = useWords();
  const state = useStore(connection);
  const word = say(state === 'open' ? 'connected' : state);
  return (
    <span role="status" className="ml-auto flex shrink-0 items-center gap-1.5 text-soft" title={word}>
      <span
        aria-hidden
        className={`size-2.5 rounded-full ${state === 'open' ? 'bg-good' : state === 'connecting' ? 'bg-warn' : 'bg-bad'}`}
      />
      <span className={state === 'open' ? 'sr-only md:not-sr-only' : 'max-w-28 truncate sm:max-w-none'}>{word}</span>
    </span>
  );
}
