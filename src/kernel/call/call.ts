import type { Failure } from '../error.ts';
import type { Metadata } from '../result.ts';

/**
 * Whether a call may run again after a crash that hid its outcome: `pure` and `idempotent` may, `once` may not
 * and becomes `interrupted`. The default is `once`.
 */
export type Effect = 'pure' | 'idempotent' | 'once';

export const FINAL_STATES = [
  'succeeded',
  'failed',
  'timed_out',
  'cancelled',
  'denied',
  'expired',
  'interrupted',
] as const;

export const CALL_STATES = ['requested', 'awaiting_approval', 'queued', 'running', ...FINAL_STATES] as const;

/** `cancelled` never started; `interrupted` started, and how far it came is not known. Final states never change. */
export type FinalState = (typeof FINAL_STATES)[number];
export type CallState = (typeof CALL_STATES)[number];

export function isFinal(state: CallState): state is FinalState {
  return (FINAL_STATES as readonly string[]).includes(state);
}

/** How a call ended, as it is recorded. `text` is what the model read; the whole text is behind `artifact` if it was cut. */
export interface Outcome {
  ok: boolean;
  text: string;
  value?: unknown;
  error?: Failure;
  warnings?: readonly string[];
  metadata?: Metadata;
  artifact?: string;
}

/** One tool use, from request to end. `tool` is always the canonical name. Times are wall-clock milliseconds. */
export interface CallRecord {
  readonly id: string;
  readonly session: string;
  readonly agent: string | null;
  readonly tool: string;
  /** As given, before defaults; replaced by what actually ran once that is known. */
  readonly args: unknown;
  /** The caller's name for this request; the same key in the same session is the same call. */
  readonly key: string | null;
  /** Where there is a key: the hash of tool and arguments as requested, to tell a repetition from another request. */
  readonly digest?: string;
  readonly effect: Effect;
  readonly state: CallState;
  readonly requestedAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  /** From the monotonic clock: of the run if it started, else of the decision. */
  readonly durationMs: number | null;
  readonly outcome: Outcome | null;
  /** How often it started. Absent in a store that only its own process sees: there it never starts twice. */
  readonly attempt?: number;
  /** The process that runs it, null when none does. Absent like `attempt`. */
  readonly node?: NodeStamp | null;
  /** The person who approved it, empty for one without a name; null when no person did. Absent like `attempt`. */
  readonly approvedBy?: string | null;
  /** The person who denied it; null when no person did. Absent like `attempt`. */
  readonly deniedBy?: string | null;
  /** Some of its arguments are hidden and kept elsewhere, so it cannot be taken over here. */
  readonly isIncomplete?: true;
}

/** A process that uses the store. Its epoch grows with every start, so that a late write of an earlier start is recognised. */
export interface NodeStamp {
  readonly id: string;
  readonly epoch: number;
}
