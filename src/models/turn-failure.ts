import type { ErrorCode, Failure } from '../kernel/error.ts';

/** Why an attempt gave no turn, and whether another one may. `afterMs` is the wait the server asked for. */
export interface TurnFailure {
  readonly failure: Failure;
  readonly retry: boolean;
  readonly afterMs?: number;
}

export function turnFailure(
  code: ErrorCode,
  message: string,
  more: { retry?: boolean; afterMs?: number } = {},
): TurnFailure {
  const { retry = false, afterMs } = more;
  return { failure: { code, message }, retry, ...(afterMs !== undefined && { afterMs }) };
}

const RETRYABLE_STATUS = new Set([408, 409, 425, 429]);

interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Classifies an HTTP answer without a turn. `said` is its body, of any shape. */
export function failureOfStatus(who: string, { status, headers }: HttpAnswer, said: string): TurnFailure {
  const words = errorText(said);
  const why = `${who} answered ${status}${words === '' ? '' : `: ${words}`}`;
  if (status >= 300 && status < 400) {
    const to = headers.location ?? 'elsewhere';
    return turnFailure(
      'NOT_CONFIGURED',
      `${who} redirects to ${to}. If you trust that address, set it as modelBaseUrl.`,
    );
  }
  if (status === 401 || status === 403)
    return turnFailure('NOT_CONFIGURED', `${why}. Check the key and that it may use this model.`);
  if (status === 404) return turnFailure('NOT_CONFIGURED', `${why}. Check the model's name and modelBaseUrl.`);
  // A rate limit by the minute mentions the prompt's length too; there waiting helps, and a shorter prompt does not.
  if (status === 413 || (status !== 429 && isTooLong(words))) return turnFailure('TOO_LARGE', why);
  const retry = (RETRYABLE_STATUS.has(status) || status >= 500) && headers['x-should-retry'] !== 'false';
  if (!retry) return turnFailure('INVALID_INPUT', `${why}. Nothing was run.`);
  const afterMs = retryAfter(headers);
  return turnFailure('NETWORK_ERROR', why, { retry: true, ...(afterMs !== undefined && { afterMs }) });
}

const RETRYABLE_ERRORS = new Set(['overloaded_error', 'api_error', 'timeout_error', 'server_error']);

/** Classifies an error inside a stream that began well. */
export function failureOfEvent(who: string, error: unknown): TurnFailure {
  const { type, code, message } = (error ?? {}) as Record<string, unknown>;
  const kind = [type, code].find((word) => typeof word === 'string') ?? 'error';
  const words = typeof message === 'string' ? clip(message) : 'no reason was given';
  const isLimited = type === 'rate_limit_error' || code === 'rate_limit_exceeded';
  if (code === 'context_length_exceeded' || (!isLimited && isTooLong(words))) {
    return turnFailure('TOO_LARGE', `${who} broke off: ${words}`);
  }
  const retry = isLimited || [type, code].some((word) => RETRYABLE_ERRORS.has(String(word)));
  return turnFailure('NETWORK_ERROR', `${who} broke off (${kind}): ${words}`, { retry });
}

function isTooLong(words: string): boolean {
  return /(prompt|context|input).{0,40}(too long|too large|length|exceed|window)/i.test(words);
}

/** Finds the message in an error body of any shape. */
function errorText(said: string): string {
  try {
    const body = JSON.parse(said) as { error?: { message?: unknown } | string; message?: unknown };
    const { error } = body;
    const words = typeof error === 'string' ? error : (error?.message ?? body.message);
    if (typeof words === 'string') return clip(words);
  } catch {
    // Not JSON: the plain text is used.
  }
  return clip(said);
}

function clip(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 400 ? `${line.slice(0, 400)}…` : line;
}

/** Reads `retry-after-ms`, or `retry-after` in seconds or as a date. */
function retryAfter(headers: HttpAnswer['headers']): number | undefined {
  const ms = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return ms;
  const text = headers['retry-after'];
  if (typeof text !== 'string') return undefined;
  const seconds = Number(text);
  const after = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(after) ? Math.max(0, after) : undefined;
}
