/**
 * One block of a result as a person sees it. The set is closed, so that no page needs to know a tool by name. Its text may
 * come from anywhere: it must be shown as text.
 */
export type ViewBlock =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string; readonly path?: string }
  /** A unified diff. */
  | { readonly kind: 'diff'; readonly text: string }
  | { readonly kind: 'table'; readonly columns: readonly string[]; readonly rows: readonly (readonly string[])[] }
  | { readonly kind: 'image'; readonly mimeType: string; readonly base64: string; readonly alt: string }
  /** Paths in the workspace that can be opened. */
  | { readonly kind: 'files'; readonly paths: readonly string[] }
  /** The output of a program, of which the end counts most. Both numbers are null while it runs, the code also after a signal. */
  | {
      readonly kind: 'terminal';
      readonly text: string;
      readonly exitCode: number | null;
      readonly durationMs: number | null;
      /** The program, where the arguments of the call do not show it. */
      readonly title?: string;
    };

/** A text file as a call would write it. A person may edit it before approving; `withText` gives the arguments for that. */
export interface Draft {
  readonly path: string;
  /** Empty for a new file. */
  readonly before: string;
  readonly after: string;
  withText(text: string): Record<string, unknown>;
}
