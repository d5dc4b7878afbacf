import type { Failure } from '../error.ts';
import type { Result } from '../result.ts';
import type { ApprovalRecord, PresentedCall } from './approval.ts';

/** The narrowest rules that cover a call, one for each part of it, with what they cover in words. */
export interface RuleProposal {
  readonly rules: readonly string[];
  readonly covers: readonly string[];
  /** The only workspace they would apply to. */
  readonly workspace: string;
}

/** Edited arguments after validation, hooks and policy. */
export interface ReviewedEdit {
  readonly args: Record<string, unknown>;
  readonly shown: PresentedCall;
  readonly digest: string;
  readonly verdict: { readonly verdict: 'allow' | 'ask' | 'deny'; readonly reason: string; readonly rule: string };
}

export interface ApproveOptions {
  readonly modifiedArgs?: Record<string, unknown> | undefined;
  /** The rules to save, one a line, as they were shown or as the person edited them; true for those that are proposed. */
  readonly always?: true | string | undefined;
  /** The digest that was shown; of edited arguments, that of their review. */
  readonly digest?: string | undefined;
}

export type AnswerOutcome =
  | { readonly kind: 'answered'; readonly approval: ApprovalRecord }
  | { readonly kind: 'unknown' }
  /** It was answered before, has expired, or its call has ended. */
  | { readonly kind: 'over'; readonly approval: ApprovalRecord }
  /** Nothing was decided: another answer is still possible. */
  | { readonly kind: 'refused'; readonly error: Failure };

export type EditReview =
  | { readonly kind: 'reviewed'; readonly edit: ReviewedEdit; readonly changed: readonly string[] }
  | Exclude<AnswerOutcome, { kind: 'answered' }>;

/** Takes the answers of people, from every door. */
export interface ApprovalAnswers {
  approve(id: string, by: string, yes?: ApproveOptions): Promise<AnswerOutcome>;
  deny(id: string, by: string, message?: string): Promise<AnswerOutcome>;
  review(id: string, args: Record<string, unknown>): Promise<EditReview>;
  /** The rules that "always" would save, or why there are none. */
  proposal(approval: ApprovalRecord): Promise<Result<RuleProposal>>;
}
