import { createStore } from '../state/store.ts';

export type Theme = 'system' | 'light' | 'dark';

const STORAGE_KEY = 'toolwright.theme';
const dark = matchMedia('(prefers-color-scheme: dark)');

export const theme = createStore<Theme>((localStorage.getItem(STORAGE_KEY) as Theme | null) ?? 'system');

export function startTheme(): void {
  const apply = () => {
    const chosen = theme.get();
    const shown = chosen === 'system' ? (dark.matches ? 'dark' : 'light') : chosen;
    document.documentElement.dataset['theme'] = shown;
  };
  theme.subscribe(apply);
  dark.addEventListener('change', apply);
  apply();
}

export function setTheme(chosen: Theme): void {
  localStorage.setItem(STORAGE_KEY, chosen);
  theme.set(chosen);
}
