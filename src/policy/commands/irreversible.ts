import { mayBeOption } from './catastrophes.ts';
import type { ShellWord } from './shell-words.ts';

/** Options of git that stand in front of the subcommand and take a value. */
const TAKING = new Set(['-C', '-c', '--git-dir', '--work-tree', '--namespace', '--exec-path', '--config-env']);

/** What git does that takes work away for good, or from others: by subcommand, what its arguments then look like. */
const LOSING: Readonly<Record<string, RegExp>> = {
  push: /^(-[a-zA-Z]*[fd]|--force.*|--mirror|--delete|--prune|[+:].+)$/,
  reset: /^--hard$/,
  clean: /^(-[a-zA-Z]*f.*|--force)$/,
  branch: /^-[a-zA-Z]*[DMC]$/,
  stash: /^(drop|clear)$/,
  reflog: /^(expire|delete)$/,
  gc: /^--prune(=.*)?$/,
  'update-ref': /^(-d|--stdin)$/,
  'filter-branch': /^/,
  'filter-repo': /^/,
};

/** Why nothing brings back what a command takes away, though it stays in the sandbox; undefined where something does. */
export function irreversible(name: string, args: readonly ShellWord[]): string | undefined {
  const values = args.map(({ value }) => value ?? '');
  if (name === 'rm' && values.some((value) => /(^|\/)\.git\/*$/.test(value)))
    return 'It would delete the whole history.';
  if (name !== 'git') return undefined;
  let at = 0;
  while (values[at]?.startsWith('-')) at += TAKING.has(values[at] ?? '') ? 2 : 1;
  const subcommand = values[at] ?? '';
  const losing = Object.hasOwn(LOSING, subcommand) ? LOSING[subcommand] : undefined;
  const computed = args.slice(at, losing === undefined ? at + 1 : undefined).find(mayBeOption);
  if (computed !== undefined) return `git ${computed.text} may take away what nothing brings back.`;
  const found = values.slice(at + 1).find((value) => losing?.test(value));
  return found === undefined ? undefined : `git ${subcommand} ${found} takes away what nothing brings back.`;
}
