import { isListed, spellingsOf } from '../spellings.ts';
import { mayBeOption } from './catastrophes.ts';
import type { ShellWord } from './shell-words.ts';

/** What git does that takes work away for good, or from others: by subcommand, what its arguments then look like. */
const LOSING: Readonly<Record<string, RegExp>> = {
  push: /^(-[a-zA-Z]*[fd][a-zA-Z]*|--f.*|--mir.*|--del.*|--pru.*|[+:].+)$/,
  reset: /^--h(a(r(d)?)?)?$/,
  clean: /^(-[a-zA-Z]*f.*|--f.*)$/,
  branch: /^(-[a-zA-Z]*[DMC][a-zA-Z]*|--f.*)$/,
  checkout: /^(-[a-zA-Z]*f|--f.*)$/,
  switch: /^(-[a-zA-Z]*f|--f.*|--disc.*)$/,
  stash: /^(drop|clear)$/,
  reflog: /^(expire|delete)$/,
  gc: /^--prune(=.*)?$/,
  'update-ref': /^(-d|--stdin)$/,
};

/** Subcommands that do so with any arguments. */
const ALWAYS = /^(filter-branch|filter-repo)$/;

export interface Loss {
  /** The word that does it. */
  readonly word: string;
  readonly why: string;
}

/** Why nothing brings back what a command takes away, though it stays in the sandbox; undefined where something does. */
export function irreversible(name: string, args: readonly ShellWord[]): Loss | undefined {
  const values = args.map(({ value }) => value ?? '');
  const history = values.find((value) => /(^|\/)\.git\/*$/.test(value));
  if (name === 'rm' && history !== undefined) return { word: history, why: 'It would delete the whole history.' };
  if (name !== 'git') return undefined;
  let at = 0;
  while (values[at]?.startsWith('-')) at += isListed(values[at] ?? '', spellingsOf('git').takes) ? 2 : 1;
  const subcommand = values[at] ?? '';
  const losing = Object.hasOwn(LOSING, subcommand) ? LOSING[subcommand] : undefined;
  const computed = args.slice(at, losing === undefined ? at + 1 : undefined).find(mayBeOption);
  if (computed !== undefined) return loss(computed.text, `git ${computed.text} may take away`);
  if (ALWAYS.test(subcommand)) return loss(subcommand, `git ${subcommand} takes away`);
  const found = values.slice(at + 1).find((value) => losing?.test(value));
  return found === undefined ? undefined : loss(found, `git ${subcommand} ${found} takes away`);
}

function loss(word: string, how: string): Loss {
  return { word, why: `${how} what nothing brings back. Only a rule that names ${word} allows it unasked.` };
}
