import { createStore } from '../state/store.ts';

/** Where in the page one is, kept in the address so that it can be shared and the back button works. */
export type Screen = 'chat' | 'files' | 'tools' | 'history';

export interface Place {
  readonly screen: Screen;
  /** A session, a file, a tool or a call. */
  readonly id: string | null;
}

const SCREENS: readonly Screen[] = ['chat', 'files', 'tools', 'history'];

export const place = createStore<Place>(fromAddress());

export function go(screen: Screen, id: string | null = null): void {
  history.pushState(null, '', id === null ? `/${screen}` : `/${screen}/${encodeURIComponent(id)}`);
  place.set({ screen, id });
}

window.addEventListener('popstate', () => place.set(fromAddress()));

function fromAddress(): Place {
  const [, screen, id] = location.pathname.split('/');
  const known = SCREENS.find((name) => name === screen) ?? 'chat';
  return { screen: known, id: id === undefined || id === '' ? null : decodeURIComponent(id) };
}
