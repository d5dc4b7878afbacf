import { createStore } from '../state/store.ts';

export type Screen = 'chat' | 'files' | 'tools' | 'history';

/** The current screen, kept in the address so that it can be shared and the back button works. */
export interface Route {
  readonly screen: Screen;
  /** The id of a session, a file, a tool or a call. */
  readonly id: string | null;
}

const SCREENS: readonly Screen[] = ['chat', 'files', 'tools', 'history'];

export const route = createStore<Route>(fromAddress());

export function go(screen: Screen, id: string | null = null): void {
  history.pushState(null, '', id === null ? `/${screen}` : `/${screen}/${encodeURIComponent(id)}`);
  route.set({ screen, id });
}

window.addEventListener('popstate', () => route.set(fromAddress()));

function fromAddress(): Route {
  const [, screen, id] = location.pathname.split('/');
  const known = SCREENS.find((name) => name === screen) ?? 'chat';
  return { screen: known, id: id === undefined || id === '' ? null : decodeURIComponent(id) };
}
