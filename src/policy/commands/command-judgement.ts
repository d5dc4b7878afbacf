export type Answer = 'allow' | 'ask' | 'deny';

/** An answer, and on what ground. */
export interface Ruling {
  readonly verdict: Answer;
  readonly rule: string;
  readonly reason: string;
}

/** One simple command of a script and what was decided about it. */
export interface CommandPart extends Ruling {
  readonly text: string;
  /** Null where none runs, as in an assignment, or which one is known only at run time. */
  readonly program: string | null;
}

export interface CommandJudgement extends Ruling {
  readonly parts: readonly CommandPart[];
  /** True when every part is known to only read, so that it can run where nothing can be written. */
  readonly readOnly: boolean;
}

/** What the rules say of a simple command, by its words; null for a word that is known only at run time. */
export type RuleLookup = (words: readonly (string | null)[]) => RuleAnswer | undefined;

export interface RuleAnswer extends Ruling {
  /** An allow that counts only for ordinary uses of the command. */
  readonly ordinary?: boolean;
  /** Whether an allow says this word itself, and not by a `*`. */
  names?(word: string): boolean;
}

/** The rule behind a part that runs unasked because it is known to change nothing. */
export const READ_ONLY = 'read-only command';
export const SENSITIVE = 'sensitive file';
export const CATASTROPHE = 'catastrophic command';
export const OUTSIDE = 'outside the workspace';
export const REFUSED = 'Refused for safety: ';

export function ask(rule: string, reason: string): Ruling {
  return { verdict: 'ask', rule, reason };
}

export function deny(rule: string, reason: string): Ruling {
  return { verdict: 'deny', rule, reason };
}

export function notUnderstood(reason: string): Ruling {
  return ask('not understood', reason);
}

/** What nobody may lift. */
export function refuse(why: string): Ruling {
  return deny(CATASTROPHE, `${REFUSED}${why}.`);
}
