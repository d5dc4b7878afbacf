export type CommandVerdict = 'allow' | 'ask' | 'deny';

/** A verdict with the rule and the reason behind it. */
export interface Ruling {
  readonly verdict: CommandVerdict;
  readonly rule: string;
  readonly reason: string;
}

/** The ruling about one simple command of a script. */
export interface CommandPart extends Ruling {
  readonly text: string;
  /** Null where no program runs, as in an assignment, or where it is known only at run time. */
  readonly program: string | null;
}

export interface CommandJudgement extends Ruling {
  readonly parts: readonly CommandPart[];
  /** True when every part is known to only read, so that it can run where nothing can be written. */
  readonly readOnly: boolean;
}

/** Finds the rule for a simple command by its words; null stands for a word that is known only at run time. */
export type RuleLookup = (words: readonly (string | null)[]) => RuleAnswer | undefined;

export interface RuleAnswer extends Ruling {
  /** An allow that counts only for ordinary uses of the command. */
  readonly ordinary?: boolean;
  /** Whether an allow rule contains this word itself, and not a `*` in its place. */
  names?(word: string): boolean;
}

/** The rule behind a part that runs without approval because it is known to change nothing. */
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

/** A refusal that no rule lifts. */
export function refuse(why: string): Ruling {
  return deny(CATASTROPHE, `${REFUSED}${why}.`);
}
