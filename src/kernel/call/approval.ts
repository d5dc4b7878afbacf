import type { Access } from '../tool/access.ts';
import type { ChangeClass, StagedChange } from '../world/stage.ts';

/** `superseded`: the call ended, or approval was requested again, before an answer came. */
export type ApprovalState = 'pending' | 'approved' | 'denied' | 'expired' | 'superseded';

interface Decision {
  readonly approved: boolean;
  readonly by: string | null;
  readonly message?: string | undefined;
}

/** Recorded when a request expires. The stored form is fixed: earlier records contain it. */
export const EXPIRED_DECISION = { approved: false, by: null, message: 'expired' } as const satisfies Decision;

/** Recorded when the call is cancelled while its request waits. The stored form is fixed, too. */
export const WITHDRAWN_DECISION = { approved: false, by: null, message: 'cancelled' } as const satisfies Decision;

/** Tells an expiry and a withdrawal from a refusal: both have no name, so only the message differs. */
export function stateOfDecision({ approved, by, message }: Decision): ApprovalState {
  if (approved) return 'approved';
  if (by === null && message === EXPIRED_DECISION.message) return 'expired';
  return by === null && message === WITHDRAWN_DECISION.message ? 'superseded' : 'denied';
}

/** One thing that policy judged, and why. */
export interface VerdictPart {
  readonly what: string;
  readonly verdict: 'allow' | 'ask' | 'deny';
  readonly rule: string;
  readonly reason: string;
}

/** One part of a preview. The set is closed, so that a door can show a call without knowing its tool. */
export type PreviewBlock =
  | { readonly kind: 'diff' | 'text'; readonly text: string; readonly truncated: boolean }
  | {
      readonly kind: 'command';
      readonly command: string;
      readonly parts: readonly VerdictPart[];
      readonly truncated: boolean;
    }
  | { readonly kind: 'url'; readonly method: string; readonly url: string; readonly host: string }
  | {
      /** Pending changes of a command. */
      readonly kind: 'changes';
      /** The command that made them. */
      readonly title: string;
      readonly items: readonly ChangeItem[];
      /** Of all changed paths, also those that stand behind an item. */
      readonly total: number;
      readonly truncated: boolean;
      /** Changes of branches and commits in words. */
      readonly repository: readonly string[];
    };

/** One changed path, or a new or deleted folder with everything in it. */
export interface ChangeItem {
  /** Exactly as it is on the disk, so that it can be chosen. */
  readonly path: string;
  /** The path as people read it, where that differs: with line breaks and unseen characters written out. */
  readonly shown?: string;
  readonly kind: StagedChange['kind'];
  readonly class: ChangeClass;
  readonly reason?: string;
  readonly loses?: true;
  readonly overtaken?: true;
  /** Lines, where both sides are text. */
  readonly added?: number;
  readonly removed?: number;
  /** A unified diff without headers. */
  readonly diff?: string;
  /** The diff was left out for want of room. */
  readonly truncated?: true;
  readonly bytes?: number;
  readonly entries?: number;
  /** The folder stands for so many changes below it of which there are too many to show: it cannot be chosen by itself. */
  readonly inside?: number;
  /** Of a symlink. */
  readonly leadsTo?: string;
}

/** The parts of an approval request that a person sees beside the arguments. */
export interface PresentedCall {
  readonly summary: string;
  readonly access: readonly Access[];
  readonly verdicts: readonly VerdictPart[];
  readonly preview: readonly PreviewBlock[];
  /** The versions that the call expects of the files it changes, by path; compared again before it runs. */
  readonly seen: Readonly<Record<string, string>>;
}

/** A request for approval, bound by `digest` to exactly these arguments and to everything shown with them. */
export interface ApprovalRecord {
  readonly id: string;
  readonly callId: string;
  readonly session: string;
  readonly tool: string;
  readonly args: unknown;
  readonly reason: string;
  readonly digest: string;
  /** Null when the request came from a program that shows nothing. */
  readonly shown: PresentedCall | null;
  readonly state: ApprovalState;
  readonly requestedAt: number;
  /** By the store's clock; null never expires. */
  readonly expiresAt: number | null;
  readonly decidedAt: number | null;
  readonly decidedBy: string | null;
  readonly message: string | null;
  /** Null when nothing was edited. */
  readonly edited: EditedArguments | null;
}

/** Arguments that a person edited, the names of those that changed, and what was shown of them with its digest. */
export interface EditedArguments {
  readonly args: unknown;
  readonly changed: readonly string[];
  readonly digest: string;
  readonly shown: PresentedCall | null;
}
