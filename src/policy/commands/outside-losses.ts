import { isListed, spellingsOf } from '../../shell/spellings.ts';
import type { ShellWord } from '../../shell/words.ts';
import { mayBeOption } from './refusals/catastrophes.ts';

/** Options and references with which `git push` takes commits from others. */
const LOSING_PUSH = /^(-[a-zA-Z]*[fd][a-zA-Z]*|--fo(r.*)?|--mir.*|--del.*|--pru.*|[+:].+)$/;

/** Options that nobody has told us about, each perhaps with a value. */
const OPTIONS = String.raw`(?:[-+]\S+ (?:[^-+\s]\S* )?)*?`;

/** Irreversible uses of programs other than git, by their arguments; the word in brackets causes the loss. */
const LOSSES: Readonly<Record<string, RegExp>> = {
  ...all('npm pnpm', behindOptions('((?:un)?pub(?:l(?:i(?:sh?)?)?)?)')),
  yarn: behindOptions('(?:npm )?(publish)'),
  cargo: behindOptions('(publish|yank)'),
  gem: /^(push|yank)(?: |$)/,
  ...all('twine flit', /^(upload|publish)(?: |$)/),
  ...all('poetry uv hatch pdm', behindOptions('(publish)')),
  ...all('terraform tofu pulumi', /^(?!(?:-\S+ )*plan(?: |$)).*?(?:^| )(destroy|--?destroy)(?: |$)/),
  ...all('kubectl oc', behindOptions('(delete|drain)')),
  helm: behindOptions('(uninstall|delete)'),
  ...all('docker podman', new RegExp(`^${OPTIONS}(?:\\S+ )?(prune)(?: |$)|^volume (rm|remove)(?: |$)`)),
  gh: /^(?:repo|release|secret) (delete)(?: |$)/,
  aws: /(?:^| )(rb|(?:delete|terminate)-\S+)(?: |$)|(?:^| )s3 (rm)(?: .*)? --recursive/,
  ...all('dropdb dropuser', /^()/),
};

/** Programs that can be told to only pretend. */
const PRETENDING = 'npm pnpm cargo poetry uv';

export function losesOutside(name: string): boolean {
  return name === 'git' || Object.hasOwn(LOSSES, name);
}

/**
 * Returns the word with which a command takes away or gives out, outside the workspace, what nothing takes back; undefined
 * where it does not.
 */
export function outsideLoss(name: string, args: readonly ShellWord[]): string | undefined {
  if (name === 'git') return lossByPush(args);
  const values = args.map(({ value }) => value ?? '');
  if (!Object.hasOwn(LOSSES, name) || (isListed(name, PRETENDING) && pretends(values))) return undefined;
  const found = LOSSES[name]?.exec(withoutKnownOptions(name, values).join(' '));
  return found == null ? undefined : found.slice(1).find(Boolean) || name;
}

function lossByPush(args: readonly ShellWord[]): string | undefined {
  const { takes } = spellingsOf('git');
  let at = 0;
  while (args[at]?.value?.startsWith('-')) at += isListed(args[at]?.value ?? '', takes) ? 2 : 1;
  if (args[at]?.value !== 'push') return undefined;
  const word = args.slice(at + 1).find((each) => mayBeOption(each) || LOSING_PUSH.test(each.value ?? ''));
  return word && (word.value ?? word.text);
}

/** So that no value of theirs is taken for the subcommand. */
function withoutKnownOptions(name: string, args: readonly string[]): readonly string[] {
  const { takes = '' } = spellingsOf(name);
  const takesNext = (word: string | undefined) => word !== undefined && word !== '' && isListed(word, takes);
  return args.filter((word, at) => !takesNext(word) && !takesNext(args[at - 1]));
}

/** An empty word is computed: it may say the opposite. */
function pretends(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  const own = end === -1 ? args : args.slice(0, end);
  const said = own.filter((word, at) => /dry-?run/.test(word) && (word !== '--dry-run' || own[at + 1] === 'false'));
  return own.includes('--dry-run') && said.length === 0 && !args.includes('');
}

function behindOptions(subcommand: string): RegExp {
  return new RegExp(`^${OPTIONS}${subcommand}(?: |$)`);
}

function all(names: string, pattern: RegExp): Record<string, RegExp> {
  return Object.fromEntries(names.split(' ').map((name) => [name, pattern]));
}
