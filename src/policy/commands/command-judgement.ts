import type { Details } from '../../kernel/error.ts';
import { howToFree, secretDetails } from '../../kernel/world/decided-files.ts';
import type { FilePolicy } from '../../kernel/world/file-policy.ts';

export type CommandVerdict = 'allow' | 'ask' | 'deny';

/** A verdict with the rule and the reason behind it. */
export interface Ruling {
  readonly verdict: CommandVerdict;
  readonly rule: string;
  readonly reason: string;
  /** Of a denial: the details of the failure. */
  readonly details?: Details;
}

/** The ruling about one simple command of a script. */
export interface CommandPart extends Ruling {
  readonly text: string;
  /** Null where no program runs, as in an assignment, or where it is known only at run time. */
  readonly program: string | null;
  /** The rule that allows it: one of the user's, or one of the default list of mode `strict`. */
  readonly allowedBy?: 'user' | 'list';
  /** It needs the network or acts outside the workspace, whatever the verdict. */
  readonly isOutside?: true;
  /** The word by which it does outside what nothing takes back. */
  readonly loses?: string;
}

export interface CommandJudgement extends Ruling {
  readonly parts: readonly CommandPart[];
}

/** The rules about commands. In the words of a command, null stands for one that is known only at run time. */
export interface RuleLookup {
  find(words: readonly (string | null)[]): RuleAnswer | undefined;
  /** Whether an ask or deny rule names this program. */
  restricts(program: string): boolean;
}

export interface RuleAnswer extends Ruling {
  /** An allow of every command, whatever its words: it counts in a script that is not plain, too. */
  readonly whole?: boolean;
  /** An allow that counts only for ordinary uses of the command. */
  readonly ordinary?: boolean;
  /** Whether an allow rule contains this word itself, and not a `*` in its place. */
  names?(word: string): boolean;
}

/** The rule behind a part that runs without approval because its changes are judged when it has ended. */
export const BY_CHANGES = 'judged by its changes';
/** The rule behind an assignment, which runs nothing. */
export const ASSIGNMENT = 'assignment';
export const SENSITIVE = 'sensitive file';
const CATASTROPHE = 'catastrophic command';
export const OUTSIDE = 'outside the workspace';
export const NETWORK = 'network';
export const OUTSIDE_EFFECT = 'outside effect';
/** The rule behind questions about text whose meaning is known only at run time, or that is too much to check. */
export const NOT_UNDERSTOOD = 'not understood';
/** The rule behind a variable that may change what runs. */
export const ENVIRONMENT = 'environment';
export const REFUSED = 'Refused for safety: ';

export function ask(rule: string, reason: string): Ruling {
  return { verdict: 'ask', rule, reason };
}

export function deny(rule: string, reason: string): Ruling {
  return { verdict: 'deny', rule, reason };
}

interface NamedSecret {
  /** As the command names it. */
  readonly text: string;
  readonly path: string;
  /** Why the path is kept from commands. */
  readonly why: string;
}

/** The refusal of a command that names a secret, with how a person frees it. */
export function denySecret({ text, path, why }: NamedSecret, files: FilePolicy): Ruling {
  const reason = `${text} cannot be used: ${why}. ${howToFree(files, path)}`;
  return { ...deny(SENSITIVE, reason), details: { ...secretDetails(files, path) } };
}

export function notUnderstood(reason: string): Ruling {
  return ask(NOT_UNDERSTOOD, reason);
}

/** A refusal that no rule lifts. */
export function refuse(why: string): Ruling {
  return deny(CATASTROPHE, `${REFUSED}${why}.`);
}
