import type { Outcome } from './call.ts';

/** The outcome of a call that was cancelled after its process had ended, before it started. */
export function cancelledBeforeStart(tool: string): Outcome {
  const message = `${tool} was cancelled before it started; nothing ran.`;
  return {
    ok: false,
    text: `Error: ${message}`,
    error: { code: 'CANCELLED', message, details: { phase: 'not_started' } },
  };
}
