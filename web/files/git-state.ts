import { api } from '../api/api.ts';
import type { Answer } from '../api/operations.ts';
import { connection, fileChanges } from '../state/server-state.ts';
import { createStore } from '../state/store.ts';

type GitStatus = Answer<'getGitStatus'>;
export type GitState = GitStatus['files'][number]['state'];

/** What is not as committed, by path; folders have the state that matters most of what is in them. */
export const gitStates = createStore<ReadonlyMap<string, GitState>>(new Map());

/** Git looks over the whole tree, so many changes at once are one question. */
const SETTLE_MS = 700;
const WEIGHT: readonly GitState[] = ['conflict', 'modified', 'added', 'deleted', 'untracked'];

export function statesOf({ files }: Pick<GitStatus, 'files'>): Map<string, GitState> {
  const states = new Map<string, GitState>();
  for (const { path, state } of files) {
    const parts = path.replace(/\/$/, '').split('/');
    states.set(parts.join('/'), state);
    for (let depth = parts.length - 1; depth > 0; depth--) {
      const folder = parts.slice(0, depth).join('/');
      const known = states.get(folder);
      if (known === undefined || WEIGHT.indexOf(state) < WEIGHT.indexOf(known)) states.set(folder, state);
    }
  }
  return states;
}

/** While files are shown; returns how to stop. A commit changes no file, so coming back to the page looks as well. */
export function followGit(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isGit = true;
  const look = async () => {
    const status = await api('getGitStatus').catch(() => null);
    isGit = status?.git ?? isGit;
    if (status !== null) gitStates.set(statesOf(status));
  };
  const soon = () => {
    clearTimeout(timer);
    if (isGit) timer = setTimeout(() => void look(), SETTLE_MS);
  };
  const stops = [fileChanges.subscribe(soon), connection.subscribe(soon)];
  window.addEventListener('focus', soon);
  void look();
  return () => {
    clearTimeout(timer);
    window.removeEventListener('focus', soon);
    for (const stop of stops) stop();
  };
}
