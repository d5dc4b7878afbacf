import type { Access } from './tool/access.ts';

/** `superseded`: the call ended, or was asked about anew, before anybody answered. */
export type ApprovalState = 'pending' | 'approved' | 'denied' | 'expired' | 'superseded';

/** One thing that policy judged, and why. */
export interface VerdictPart {
  readonly what: string;
  readonly verdict: 'allow' | 'ask' | 'deny';
  readonly rule: string;
  readonly reason: string;
}

/** A small closed set, so that no door needs to know a tool's name to show what it would do. */
export type PreviewBlock =
  | { readonly kind: 'diff' | 'text'; readonly text: string; readonly truncated: boolean }
  | {
      readonly kind: 'command';
      readonly command: string;
      readonly parts: readonly VerdictPart[];
      readonly truncated: boolean;
    }
  | { readonly kind: 'url'; readonly method: string; readonly url: string; readonly host: string };

/** What a person sees beside the arguments. */
export interface Shown {
  readonly summary: string;
  readonly access: readonly Access[];
  readonly verdicts: readonly VerdictPart[];
  readonly preview: readonly PreviewBlock[];
  /** What the question was asked about beside the arguments, such as files as they stood; compared before it runs. */
  readonly seen: Readonly<Record<string, string>>;
}

/** A question to a person, bound by `digest` to exactly these arguments and to what was shown with them. */
export interface ApprovalRecord {
  readonly id: string;
  readonly callId: string;
  readonly session: string;
  readonly tool: string;
  readonly args: unknown;
  readonly reason: string;
  readonly digest: string;
  /** Null for one asked by a program that shows nothing. */
  readonly shown: Shown | null;
  readonly state: ApprovalState;
  readonly requestedAt: number;
  /** By the store's clock; null waits as long as it takes. */
  readonly expiresAt: number | null;
  readonly decidedAt: number | null;
  readonly decidedBy: string | null;
  readonly message: string | null;
  /** Null when nothing was edited. */
  readonly edited: EditedArguments | null;
}

/** Arguments that a person put in the place of the others, what changed, and what was shown of them with its digest. */
export interface EditedArguments {
  readonly args: unknown;
  readonly changed: readonly string[];
  readonly digest: string;
  readonly shown: Shown | null;
}
