import type { PreviewBlock } from '../call/approval.ts';
import type { Failure } from '../error.ts';
import type { MaybePromise, Metadata } from '../result.ts';
import type { Stage } from '../world/stage.ts';
import type { Change } from '../world/workspace.ts';
import type { Access } from './access.ts';

/** Why a person must be asked. A rule of a user may lift it, unless it is `always`. */
export type OwnReason = string | { readonly reason: string; readonly always: true };

/**
 * The effect of a call, worked out without any effect. Judged, shown, bound to a person's approval and run is this one
 * object; a tool may add fields for its own `run`.
 */
export interface Plan {
  /**
   * The files it would change. The runtime rehearses them, fills in the version that each write expects, and derives
   * access, reasons to ask, preview and draft. `run` applies them.
   */
  readonly changes?: readonly Change[];
  /**
   * Its access beside that of the changes. With neither: unknown. The runtime adds to a command line the sensitive file that it may
   * print from a repository.
   */
  readonly access?: readonly Access[];
  /** A reason to ask a person beside those that follow from the changes. */
  readonly approval?: OwnReason;
  /** No rule of a user lifts the question about its changes. */
  readonly asksAlways?: true;
  /** Left out: the diff of the changes. */
  readonly preview?: string | readonly PreviewBlock[] | (() => MaybePromise<readonly PreviewBlock[]>);
  /**
   * With it a person may edit the one text file that the changes write. Returns the arguments with which the call would write
   * this text instead. `before` is the present text, empty for a new file.
   */
  withText?(text: string, before: string): Record<string, unknown>;
  /** Changes of a command that are to be kept, for policy to judge one by one. */
  readonly staged?: Pick<Stage, 'changes' | 'isPartial' | 'allowedBy'> & { readonly isCollected: boolean };
  /** JSON that the approval digest covers beside the arguments, the changed paths and their expected versions. */
  readonly bound?: unknown;
}

/** A call that cannot work, with the access it would have needed: a path that policy denies is answered with the denial. */
export interface PlanFailure {
  readonly ok: false;
  readonly error: Failure;
  readonly metadata?: Metadata;
  readonly access?: readonly Access[];
}

export type PlanResult<P> = { readonly ok: true; readonly value: P; readonly metadata?: Metadata } | PlanFailure;

/** Adds to a failure the paths that the arguments name. */
export function planFailure({ error }: { readonly error: Failure }, access: readonly Access[]): PlanFailure {
  return { ok: false, error, access };
}
