import { isListed, spellingsOf } from '../../../shell/spellings.ts';

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

/** The word with which a program takes away or gives out what nothing takes back; undefined where it does not. */
export function lossBy(name: string, args: readonly string[]): string | undefined {
  if (!Object.hasOwn(LOSSES, name) || (isListed(name, PRETENDING) && pretends(args))) return undefined;
  const found = LOSSES[name]?.exec(withoutKnownOptions(name, args).join(' '));
  return found == null ? undefined : found.slice(1).find(Boolean) || name;
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
