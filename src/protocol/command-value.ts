import type { Outcome } from '../kernel/call/call.ts';

/** The exit code in the value of a command, of whatever tool; null for every other value. */
export function exitCodeIn(value: unknown): number | null {
  const { exitCode } = (value ?? {}) as { exitCode?: unknown };
  return typeof exitCode === 'number' ? exitCode : null;
}

/**
 * Whether a person is shown a success. A command with an exit code other than 0 has run, and its call succeeded; what it was
 * to do did not.
 */
export function wentWell({ ok, value }: Pick<Outcome, 'ok' | 'value'>): boolean {
  return ok && (exitCodeIn(value) ?? 0) === 0;
}

/** Hints and other information beside the output of a command; none in every other value. */
export function notesIn(value: unknown): readonly string[] {
  const { notes } = (value ?? {}) as { notes?: readonly unknown[] };
  return Array.isArray(notes) ? notes.filter((note) => typeof note === 'string') : [];
}

/** The artifact with the whole output, where the text has only a part: the runtime cut it, or the tool itself did. */
export function wholeOutputOf({
  artifact,
  metadata,
}: {
  readonly artifact?: string | undefined;
  readonly metadata?: Record<string, unknown> | undefined;
}): string | undefined {
  const own = metadata?.['artifact'];
  return artifact ?? (typeof own === 'string' ? own : undefined);
}
