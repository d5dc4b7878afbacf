import type { Details, ErrorCode, Failure } from './error.ts';

/** Facts for programs beside the value of a tool: counts, sizes, paths. JSON. */
export type Metadata = Record<string, unknown>;

/** Expected failure is a value. `if (!x.ok) return x` is the idiom; there is no map or chain. */
export type Result<T> =
  | { readonly ok: true; readonly value: T; readonly metadata?: Metadata }
  | { readonly ok: false; readonly error: Failure; readonly metadata?: Metadata };

export function ok<T>(value: T, metadata?: Metadata): Result<T> {
  return metadata === undefined ? { ok: true, value } : { ok: true, value, metadata };
}

export function fail(code: ErrorCode, message: string, details?: Details): Result<never> {
  return { ok: false, error: details === undefined ? { code, message } : { code, message, details } };
}

export function isResult(value: unknown): value is Result<unknown> {
  if (typeof value !== 'object' || value === null || !('ok' in value)) return false;
  if (value.ok === true) return 'value' in value;
  return value.ok === false && 'error' in value && typeof value.error === 'object' && value.error !== null;
}

/** For callbacks that may be synchronous or not. `await` costs a turn of the event loop, so callers check first. */
export type MaybePromise<T> = T | Promise<T>;

export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

/** Runs `next` at once on a value that is there, or when the promise resolves. */
export function andThen<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return isPromise(value) ? value.then(next) : next(value);
}
