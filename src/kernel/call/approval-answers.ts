import type { ApprovalRecord, Shown } from '../approval.ts';
import type { Failure } from '../error.ts';
import type { Result } from '../result.ts';

/** The narrowest rules that cover a call, one for each part of it, what they let through, and what they would not. */
export interface RuleProposal {
  readonly rules: readonly string[];
  readonly covers: readonly string[];
  readonly refuses: readonly string[];
  /** The only one they would hold in. */
  readonly workspace: string;
}

/** Edited arguments after validation, hooks and policy. */
export interface ReviewedEdit {
  readonly args: Record<string, unknown>;
  readonly shown: Shown;
  readonly digest: string;
  readonly verdict: { readonly verdict: 'allow' | 'ask' | 'deny'; readonly reason: string; readonly rule: string };
}

export interface Yes {
  readonly modifiedArgs?: Record<string, unknown> | undefined;
  /** The rules to save, one a line, as they were shown or as the person edited them; true for those that are proposed. */
  readonly always?: true | string | undefined;
  /** The digest that was shown; of edited arguments, that of their review. */
  readonly digest?: string | undefined;
}

export type Answered =
  | { readonly kind: 'answered'; readonly approval: ApprovalRecord }
  | { readonly kind: 'unknown' }
  /** Somebody answered before, its time is over, or its call has ended. */
  | { readonly kind: 'over'; readonly approval: ApprovalRecord }
  /** Nothing was decided: it can still be answered otherwise. */
  | { readonly kind: 'refused'; readonly error: Failure };

export type EditReview =
  | { readonly kind: 'reviewed'; readonly edit: ReviewedEdit; readonly changed: readonly string[] }
  | Exclude<Answered, { kind: 'answered' }>;

/** Where people's answers go, from every door. */
export interface Answers {
  approve(id: string, by: string, yes?: Yes): Promise<Answered>;
  deny(id: string, by: string, message?: string): Promise<Answered>;
  review(id: string, args: Record<string, unknown>): Promise<EditReview>;
  /** The rules that «always» would save, or why there are none. */
  proposal(approval: ApprovalRecord): Promise<Result<RuleProposal>>;
}
