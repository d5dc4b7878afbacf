import { api } from '../api/api.ts';
import type { ApiAnswer } from '../api/operations.ts';
import { connection, fileChanges } from '../state/server-state.ts';
import { createStore } from '../state/store.ts';

type GitStatus = ApiAnswer<'getGitStatus'>;
export type GitState = GitStatus['files'][number]['state'];

/** Git states by path. A folder has the most important state of the files in it. */
export const gitStates = createStore<ReadonlyMap<string, GitState>>(new Map());

/** `git status` reads the whole tree, so many changes at once cause one request. */
const SETTLE_MS = 700;
const WEIGHT: readonly GitState[] = ['conflict', 'modified', 'added', 'deleted', 'untracked'];

export function toGitStates({ files }: Pick<GitStatus, 'files'>): Map<string, GitState> {
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

/** Keeps the git states up to date; returns a function that stops. A commit changes no file, so a focus reloads too. */
export function followGit(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isGit = true;
  const look = async () => {
    const status = await api('getGitStatus').catch(() => null);
    isGit = status?.git ?? isGit;
    if (status !== null) gitStates.set(toGitStates(status));
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
