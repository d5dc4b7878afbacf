import type { Outcome } from './call.ts';

/** Of a call that was cancelled after its process had ended, so that nobody else can tell. */
export function cancelledBeforeStart(tool: string): Outcome {
  const message = `${tool} was cancelled before it started; nothing ran.`;
  return {
    ok: false,
    text: `Error: ${message}`,
    error: { code: 'CANCELLED', message, details: { phase: 'not_started' } },
  };
}
