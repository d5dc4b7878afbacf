import { gitSubcommandAt } from '../../shell/spellings.ts';
import type { ShellWord } from '../../shell/words.ts';
import { mayBeOption } from './refusals/catastrophes.ts';

/** Options and references with which `git push` takes commits from others. */
const LOSING_PUSH = /^(-[a-zA-Z]*[fd][a-zA-Z]*|--fo(r.*)?|--mir.*|--del.*|--pru.*|[+:].+)$/;

/** The words by which other programs take away or give out, wherever they stand among their arguments. */
const LOSSES: Readonly<Record<string, RegExp>> = {
  ...all('npm pnpm', '(?:un)?pub(?:l(?:i(?:sh?)?)?)?'),
  ...all('yarn flit poetry uv hatch pdm', 'publish'),
  ...all('cargo', 'publish|yank'),
  ...all('gem', 'push|yank'),
  ...all('twine', 'upload'),
  ...all('terraform tofu pulumi', '(?:--?)?destroy'),
  ...all('kubectl oc', 'delete|drain'),
  ...all('helm', 'uninstall|delete'),
  ...all('docker podman', 'prune|(?<=volume )rm|(?<=volume )remove'),
  ...all('gh', 'delete'),
  ...all('aws', 'rb|rm|(?:delete|terminate)-\\S+'),
};
const DROPS = /^drop(?:db|user)$/;
/** Programs that can be told to only pretend. */
const PRETENDING = /^(?:npm|pnpm|cargo|poetry|uv)$/;

export function losesOutside(name: string): boolean {
  return name === 'git' || DROPS.test(name) || Object.hasOwn(LOSSES, name);
}

/**
 * Returns the word with which a command takes away or gives out, outside the workspace, what nothing takes back; undefined
 * where it does not.
 */
export function outsideLoss(name: string, args: readonly ShellWord[]): string | undefined {
  if (name === 'git') return lossByPush(args);
  if (DROPS.test(name)) return name;
  const values = args.map(({ value }) => value ?? '');
  if (!Object.hasOwn(LOSSES, name) || (PRETENDING.test(name) && pretends(values))) return undefined;
  return LOSSES[name]?.exec(values.join(' '))?.[0];
}

/** Any other word about it, and an empty one, which is computed, may say the opposite. */
function pretends(args: readonly string[]): boolean {
  const said = args.filter(
    (word, at) => /dry-?run/.test(word) || args[at - 1] === '--dry-run' || word === '' || word === '--',
  );
  return said.length === 1 && said[0] === '--dry-run';
}

/** A computed subcommand may be `push` too, where a word stands behind it that loses. */
function lossByPush(args: readonly ShellWord[]): string | undefined {
  const at = gitSubcommandAt(args.map(({ value }) => value));
  const [subcommand, ...rest] = args.slice(at);
  const isPush = subcommand?.value === 'push';
  if (!isPush && (subcommand === undefined || !mayBeOption(subcommand))) return undefined;
  const word = rest.find((each) => (isPush && mayBeOption(each)) || LOSING_PUSH.test(each.value ?? ''));
  return word && (word.value ?? word.text);
}

function all(names: string, losing: string): Record<string, RegExp> {
  return Object.fromEntries(names.split(' ').map((name) => [name, new RegExp(`(?<![^ ])(?:${losing})(?![^ ])`)]));
}
