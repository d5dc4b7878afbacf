import { Files, History, MessageSquare, Wrench } from 'lucide-react';
import type { ReactNode } from 'react';
import { lastShown } from '../editor/open-tabs.ts';
import { approvals } from '../state/server-state.ts';
import { useStore } from '../state/store.ts';
import { useWords } from '../words/words.ts';
import { go, route, type Screen } from './route.ts';

const ENTRIES = [
  { screen: 'chat', Icon: MessageSquare },
  { screen: 'files', Icon: Files },
  { screen: 'tools', Icon: Wrench },
  { screen: 'history', Icon: History },
] as const satisfies readonly { screen: Screen; Icon: unknown }[];

/** The navigation bar, at the left or along the bottom on a phone. */
export function Navigation(): ReactNode {
  const say = useWords();
  const { screen } = useStore(route);
  const waiting = useStore(approvals).length;
  return (
    <nav
      aria-label="Toolwright"
      className="flex shrink-0 justify-around border-line border-t bg-panel md:w-20 md:flex-col md:justify-start md:border-t-0 md:border-r md:pt-2"
    >
      {ENTRIES.map(({ screen: name, Icon }) => (
        <button
          key={name}
          type="button"
          aria-current={screen === name ? 'page' : undefined}
          onClick={() => go(name, name === 'files' ? lastShown() : null)}
          className="relative flex min-h-14 flex-1 flex-col items-center justify-center gap-0.5 px-2 text-soft text-xs aria-[current=page]:font-semibold aria-[current=page]:text-accent md:flex-none"
        >
          <Icon size={20} aria-hidden />
          {say(name)}
          {name === 'chat' && waiting > 0 && (
            <span className="absolute top-1 right-1/2 translate-x-6 rounded-full bg-warn px-1.5 text-[11px] text-panel">
              {waiting}
            </span>
          )}
        </button>
      ))}
    </nav>
  );
}
