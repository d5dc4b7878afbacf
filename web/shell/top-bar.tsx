import { Box, CircleAlert, Languages, SunMoon } from 'lucide-react';
import type { ReactNode } from 'react';
import { connection, health } from '../state/live.ts';
import { useStore } from '../state/store.ts';
import { type Say, setLanguage, language as shownLanguage, useWords } from '../words/words.ts';
import { setTheme, theme as shownTheme, type Theme } from './theme.ts';

export function TopBar(): ReactNode {
  const say = useWords();
  const state = useStore(health);
  const language = useStore(shownLanguage);
  const theme = useStore(shownTheme);
  const workspace = state?.workspaces[0];
  return (
    <header className="flex min-h-12 shrink-0 flex-wrap items-center gap-x-4 gap-y-1 border-line border-b bg-panel px-3 py-1 text-sm">
      <strong className="text-base">Toolwright</strong>
      <span className="max-w-[40vw] truncate text-soft" title={workspace?.name}>
        {workspace?.name}
      </span>
      <span className="hidden text-soft sm:inline">{state && modeText(say, state.mode)}</span>
      <span className="hidden items-center gap-1 text-soft md:flex">
        {workspace?.sandbox === 'none' ? <CircleAlert size={16} className="text-bad" /> : <Box size={16} aria-hidden />}
        {workspace?.sandbox === 'none' ? say('sandboxNone') : workspace?.sandbox}
      </span>
      <span className="hidden truncate text-soft lg:inline">
        {state && (state.model === null ? say('manualMode') : `${say('model')}: ${state.model}`)}
      </span>
      <ConnectionState />
      <button
        type="button"
        className="button plain"
        aria-label={say('language')}
        onClick={() => setLanguage(language === 'en' ? 'zh' : 'en')}
      >
        <Languages size={18} aria-hidden />
        {language === 'en' ? '中文' : 'English'}
      </button>
      <label className="flex items-center gap-1">
        <SunMoon size={18} aria-hidden />
        <span className="sr-only">{say('theme')}</span>
        <select className="field w-auto" value={theme} onChange={({ target }) => setTheme(target.value as Theme)}>
          <option value="system">{say('themeSystem')}</option>
          <option value="light">{say('themeLight')}</option>
          <option value="dark">{say('themeDark')}</option>
        </select>
      </label>
    </header>
  );
}

function ConnectionState(): ReactNode {
  const say = useWords();
  const state = useStore(connection);
  const word = say(state === 'open' ? 'connected' : state);
  return (
    <span role="status" className="ml-auto flex items-center gap-1.5 text-soft">
      <span
        aria-hidden
        className={`size-2.5 rounded-full ${state === 'open' ? 'bg-good' : state === 'lost' ? 'bg-bad' : 'bg-warn'}`}
      />
      <span className={state === 'open' ? 'sr-only sm:not-sr-only' : ''}>{word}</span>
    </span>
  );
}

function modeText(say: Say, mode: string): string {
  const keys = { plan: 'modePlan', ask: 'modeAsk', auto: 'modeAuto', strict: 'modeStrict' } as const;
  return mode in keys ? say(keys[mode as keyof typeof keys]) : mode;
}
