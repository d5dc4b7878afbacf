import type { Details } from '../kernel/error.ts';
import type { Access } from '../kernel/tool/access.ts';
import type { RuleVerdict } from './rules/rule.ts';

export type ProcessRun = Extract<Access, { kind: 'process.run' }>;

/** The judgement of one thing that a call touches. */
export interface AccessJudgement {
  readonly what: string;
  readonly verdict: RuleVerdict;
  readonly rule: string;
  readonly reason: string;
  /** Whether mode `auto` may answer in the person's place. */
  readonly liftable: boolean;
  /** Nothing is lost by it, so that mode `ask` answers as well. */
  readonly losesNothing?: true;
  /** Whether it is more than reading, which mode `plan` never allows. */
  readonly changes: boolean;
  /** Set when the mode denies what no rule and no file policy denies. */
  readonly byMode?: true;
  /** Of a denial: the code of the failure. Left out: PERMISSION_DENIED. */
  readonly code?: 'INVALID_PATH' | 'PERMISSION_DENIED';
  /** Of a denial: the details of the failure, beside the rule. */
  readonly details?: Details;
}

/** The access that is granted, and everything that was judged about it. */
export interface JudgedAccess {
  readonly access: Access;
  readonly parts: readonly AccessJudgement[];
  /** The text of the user's rule by which all of a command is allowed. */
  readonly byRule?: string;
  /** Of a command: by its words it needs the network or acts outside the workspace. */
  readonly isOutside?: true;
}

/** Returns the part that decides: the first refusal, else the first question, else the first part. */
export function strictest<Part extends { readonly verdict: RuleVerdict }>(parts: readonly Part[]): Part | undefined {
  for (const verdict of ['deny', 'ask', 'allow']) {
    const part = parts.find((one) => one.verdict === verdict);
    if (part !== undefined) return part;
  }
  return undefined;
}
