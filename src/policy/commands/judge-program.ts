import { type Surroundings, sensitiveReason, targetsOf } from '../../shell/resolve-path.ts';
import type { ShellWord } from '../../shell/words.ts';
import { ask, deny, notUnderstood, OUTSIDE, READ_ONLY, type Ruling, SENSITIVE } from './command-judgement.ts';
import { readOnlyUse } from './read-only/read-only.ts';
import type { ReadOnlyUse } from './read-only/read-only-use.ts';
import { destroysUnknown } from './refusals/catastrophes.ts';
import { emptied, irreversible } from './refusals/irreversible.ts';

/** System files that contain nothing of the user: commands may read them without approval. */
const READABLE =
  /^\/(usr|bin|sbin|lib|lib64|etc\/(os-release|debian_version|lsb-release|hosts|resolv\.conf|timezone|localtime))(\/|$)|^\/proc\/(cpuinfo|meminfo|version|loadavg|uptime|self\/status)$/;

export interface ProgramJudgement extends Ruling {
  /** The word that causes an irreversible loss. */
  readonly loses?: string;
}

interface ProgramUse {
  readonly name: string;
  readonly args: readonly ShellWord[];
}

/** Judges a command by itself in any of these folders, without the rules. */
export function judgeProgram(
  { name, args }: ProgramUse,
  folders: readonly string[],
  where: Surroundings,
): ProgramJudgement {
  const answer = readOnlyUse(name, args);
  if (!('why' in answer))
    return (
      judgeReading({ ...answer, name }, folders, where) ?? {
        verdict: 'allow',
        rule: READ_ONLY,
        reason: `${name} only reads.`,
      }
    );
  const secret = args.find((word) => !word.pattern && sensitiveReason(word, folders, where) !== undefined);
  if (secret !== undefined)
    return deny(SENSITIVE, `${secret.text} cannot be used: ${sensitiveReason(secret, folders, where)}.`);
  if (destroysUnknown(name, args))
    return notUnderstood(`The files that ${name} would remove are known only at run time.`);
  const loss = irreversible(name, args) ?? emptied(name, args, folders, where);
  if (loss === undefined) return ask('not read-only', `${answer.why}.`);
  return { ...ask('irreversible', loss.why), loses: loss.word };
}

/** Judges a command that only reads: files that it opens meet the file policy, files that it only names must be inside the workspace. */
function judgeReading(
  { name, content, named, roams = false }: ReadOnlyUse & { name: string },
  folders: readonly string[],
  where: Surroundings,
): Ruling | undefined {
  if (where.masked === false && (roams || content.some(({ pattern }) => pattern)))
    return ask(SENSITIVE, 'Without a sandbox, nothing hides the sensitive files that it may open.');
  for (const word of content) {
    const secret = sensitiveReason(word, folders, where);
    if (secret === undefined) continue;
    // Masks cover the working tree, not the history; and a pattern may match what is masked or what is not.
    if (name === 'git') return ask(SENSITIVE, `The history may hold ${word.text}: ${secret}.`);
    if (word.pattern) return ask(SENSITIVE, `${word.text} may match a sensitive file: ${secret}.`);
    return deny(SENSITIVE, `${word.text} cannot be read: ${secret}. A user can lift that in the configuration.`);
  }
  for (const word of [...content, ...named]) {
    for (const place of targetsOf(word, folders, where)) {
      if (place.kind === 'computed')
        return notUnderstood(`The file that ${word.text} names is known only at run time.`);
      if (place.kind === 'outside' && !READABLE.test(place.path))
        return ask(OUTSIDE, `It reads ${word.text}, which is outside the workspace.`);
    }
  }
  return undefined;
}
