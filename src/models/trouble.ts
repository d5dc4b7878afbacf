import type { ErrorCode, Failure } from '../kernel/error.ts';

/** Why a try gave no turn, and whether another one may. `afterMs` is what the server asked for. */
export interface Trouble {
  readonly failure: Failure;
  readonly retry: boolean;
  readonly afterMs?: number;
}

export function trouble(code: ErrorCode, message: string, more: { retry?: boolean; afterMs?: number } = {}): Trouble {
  const { retry = false, afterMs } = more;
  return { failure: { code, message }, retry, ...(afterMs !== undefined && { afterMs }) };
}

const RETRIED_STATUS = new Set([408, 409, 425, 429]);

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** What an answer that is no turn means. `said` is the body, of whatever shape. */
export function troubleOfStatus(who: string, { status, headers }: Answer, said: string): Trouble {
  const words = wordsOf(said);
  const why = `${who} answered ${status}${words === '' ? '' : `: ${words}`}`;
  if (status >= 300 && status < 400) {
    const to = headers.location ?? 'elsewhere';
    return trouble('NOT_CONFIGURED', `${who} redirects to ${to}. If you trust that address, set it as modelBaseUrl.`);
  }
  if (status === 401 || status === 403)
    return trouble('NOT_CONFIGURED', `${why}. Check the key and that it may use this model.`);
  if (status === 404) return trouble('NOT_CONFIGURED', `${why}. Check the model's name and modelBaseUrl.`);
  // A limit by the minute speaks of the prompt's length too; waiting helps there, and a shorter prompt is no cure.
  if (status === 413 || (status !== 429 && isTooLong(words))) return trouble('TOO_LARGE', why);
  const retry = (RETRIED_STATUS.has(status) || status >= 500) && headers['x-should-retry'] !== 'false';
  if (!retry) return trouble('INVALID_INPUT', `${why}. Nothing was run.`);
  const afterMs = retryAfter(headers);
  return trouble('NETWORK_ERROR', why, { retry: true, ...(afterMs !== undefined && { afterMs }) });
}

const RETRIED_ERRORS = new Set(['overloaded_error', 'api_error', 'timeout_error', 'server_error']);

/** An error that came inside a stream that had begun well. */
export function troubleOfEvent(who: string, error: unknown): Trouble {
  const { type, code, message } = (error ?? {}) as Record<string, unknown>;
  const kind = [type, code].find((word) => typeof word === 'string') ?? 'error';
  const words = typeof message === 'string' ? clip(message) : 'no reason was given';
  const isLimited = type === 'rate_limit_error' || code === 'rate_limit_exceeded';
  if (code === 'context_length_exceeded' || (!isLimited && isTooLong(words))) {
    return trouble('TOO_LARGE', `${who} broke off: ${words}`);
  }
  const retry = isLimited || [type, code].some((word) => RETRIED_ERRORS.has(String(word)));
  return trouble('NETWORK_ERROR', `${who} broke off (${kind}): ${words}`, { retry });
}

function isTooLong(words: string): boolean {
  return /(prompt|context|input).{0,40}(too long|too large|length|exceed|window)/i.test(words);
}

/** The sentence inside an error body, whatever its shape. */
function wordsOf(said: string): string {
  try {
    const body = JSON.parse(said) as { error?: { message?: unknown } | string; message?: unknown };
    const { error } = body;
    const words = typeof error === 'string' ? error : (error?.message ?? body.message);
    if (typeof words === 'string') return clip(words);
  } catch {
    // Not JSON: its text will do.
  }
  return clip(said);
}

function clip(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 400 ? `${line.slice(0, 400)}…` : line;
}

/** `retry-after-ms`, or `retry-after` in seconds or as a date. */
function retryAfter(headers: Answer['headers']): number | undefined {
  const ms = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return ms;
  const text = headers['retry-after'];
  if (typeof text !== 'string') return undefined;
  const seconds = Number(text);
  const after = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(after) ? Math.max(0, after) : undefined;
}
