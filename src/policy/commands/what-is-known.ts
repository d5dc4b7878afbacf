import { destroysUnknown } from './refusals/catastrophes.ts';
import { ask, deny, notUnderstood, OUTSIDE, READ_ONLY, type Ruling, SENSITIVE } from './command-judgement.ts';
import { emptied, irreversible } from './refusals/irreversible.ts';
import { placesOf, type Surroundings, sensitive } from '../../shell/resolve-path.ts';
import { readOnlyUse } from './read-only/read-only.ts';
import type { ReadOnlyUse } from './read-only/read-only-use.ts';
import type { ShellWord } from '../../shell/words.ts';

/** System files that hold nothing of the user: commands may read them unasked. */
const READABLE =
  /^\/(usr|bin|sbin|lib|lib64|etc\/(os-release|debian_version|lsb-release|hosts|resolv\.conf|timezone|localtime))(\/|$)|^\/proc\/(cpuinfo|meminfo|version|loadavg|uptime|self\/status)$/;

export interface Knowledge extends Ruling {
  /** The word with which it takes away what nothing brings back. */
  readonly loses?: string;
}

/** What a command does by itself in any of these folders, whatever the rules say of it. */
export function whatIsKnown(
  name: string,
  args: readonly ShellWord[],
  folders: readonly string[],
  where: Surroundings,
): Knowledge {
  const answer = readOnlyUse(name, args);
  if (!('why' in answer))
    return (
      reading(name, answer, folders, where) ?? { verdict: 'allow', rule: READ_ONLY, reason: `${name} only reads.` }
    );
  const secret = args.find((word) => !word.pattern && sensitive(word, folders, where) !== undefined);
  if (secret !== undefined)
    return deny(SENSITIVE, `${secret.text} cannot be used: ${sensitive(secret, folders, where)}.`);
  if (destroysUnknown(name, args)) return notUnderstood(`What ${name} would take away is known only at run time.`);
  const loss = irreversible(name, args) ?? emptied(name, args, folders, where);
  if (loss === undefined) return ask('not read-only', `${answer.why}.`);
  return { ...ask('irreversible', loss.why), loses: loss.word };
}

/** Files it opens meet the file policy; files it only looks at must merely be inside. */
function reading(
  name: string,
  { content, named, roams = false }: ReadOnlyUse,
  folders: readonly string[],
  where: Surroundings,
): Ruling | undefined {
  if (where.masked === false && (roams || content.some(({ pattern }) => pattern)))
    return ask(SENSITIVE, 'Without a sandbox nothing hides sensitive files from what it comes across.');
  for (const word of content) {
    const secret = sensitive(word, folders, where);
    if (secret === undefined) continue;
    // Masks cover the working tree, not the history; and a pattern may match what is masked or what is not.
    if (name === 'git') return ask(SENSITIVE, `The history may hold ${word.text}: ${secret}.`);
    if (word.pattern) return ask(SENSITIVE, `${word.text} may match a sensitive file: ${secret}.`);
    return deny(SENSITIVE, `${word.text} cannot be read: ${secret}. A user can lift that in the configuration.`);
  }
  for (const word of [...content, ...named]) {
    for (const place of placesOf(word, folders, where)) {
      if (place.kind === 'computed') return notUnderstood(`What ${word.text} names is known only at run time.`);
      if (place.kind === 'outside' && !READABLE.test(place.path))
        return ask(OUTSIDE, `It reads ${word.text}, which is outside the workspace.`);
    }
  }
  return undefined;
}
