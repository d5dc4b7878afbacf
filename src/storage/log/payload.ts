import { hash } from 'node:crypto';
import { storableText, storedName } from '../../kernel/call/stored-name.ts';
import type { BlobStore } from '../../kernel/ports.ts';
import { andThen, isPromise, type MaybePromise } from '../../kernel/result.ts';

/** A larger payload is a blob, and its row holds only the handle. */
const INLINE_BYTES = 32 * 1024;

/** JSON in the row, or the handle of the blob that holds the JSON. Exactly one is set. */
export interface Payload {
  readonly data: string | null;
  readonly blob: string | null;
}

/**
 * Puts a large value into a blob that is durable before the payload is returned, so no event refers to a missing blob.
 */
export function toPayload(blobs: BlobStore, value: unknown): MaybePromise<Payload> {
  const data = toJson(value);
  // A UTF-16 unit takes one to three bytes, so most payloads need no counting.
  const small = data.length * 3 <= INLINE_BYTES || Buffer.byteLength(data) <= INLINE_BYTES;
  if (small) return { data, blob: null };
  return andThen(blobs.put(Buffer.from(data)), (blob) => ({ data: null, blob }));
}

/** Calls `missing` for a lost blob or a damaged row, so that one of them does not break a whole page. */
export function fromPayload<T>(blobs: BlobStore, payload: Payload, missing: (handle: string) => T): MaybePromise<T> {
  const { data, blob } = payload;
  if (blob === null) return parsed(data ?? 'null', '');
  return andThen(blobs.get(blob), (got) => (got.ok ? parsed(Buffer.from(got.value).toString(), blob) : missing(blob)));

  function parsed(text: string, handle: string): T {
    try {
      return JSON.parse(text) as T;
    } catch {
      return missing(handle);
    }
  }
}

/** Returns the values at once when none is a promise, so that reading rows without blobs takes no turn of the loop. */
export function resolveAll<T>(values: readonly MaybePromise<T>[]): MaybePromise<T[]> {
  return values.some(isPromise) ? Promise.all(values) : (values as T[]);
}

/** Calls `next` with both values, at once when neither is a promise. */
export function combine<A, B, R>(a: MaybePromise<A>, b: MaybePromise<B>, next: (a: A, b: B) => R): MaybePromise<R> {
  if (!isPromise(a) && !isPromise(b)) return next(a, b);
  return Promise.all([a, b]).then(([someA, someB]) => next(someA, someB));
}

/** Writes any value as JSON. Values that JSON cannot hold become strings, so no argument prevents a record. */
export function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch {
    const path: unknown[] = [];
    return (
      JSON.stringify(value, function (this: unknown, _key, inner: unknown) {
        if (typeof inner === 'bigint') return String(inner);
        while (path.length > 0 && path.at(-1) !== this) path.pop();
        if (typeof inner === 'object' && inner !== null) {
          if (path.includes(inner)) return '[circular]';
          path.push(inner);
        }
        return inner;
      }) ?? 'null'
    );
  }
}

/** Every name that a caller gives passes here once, both when it is written and when it is looked up. */
export function toStoredName(name: string): string {
  return storedName(name, sha256);
}

export function toStoredNameOrNull(name: string | null): string | null {
  return name === null ? null : storedName(name, sha256);
}

export function toStoredTextOrNull(text: string | null | undefined): string | null {
  return text == null ? null : storableText(text);
}

/**
 * Times and counts are integers in every database. NaN and Infinity stay as they are, so only their own write fails.
 */
export function toInteger(value: number): number {
  return Number.isInteger(value) ? value : Math.round(value);
}

export function toIntegerOrNull(value: number | null): number | null {
  return value === null ? null : toInteger(value);
}

function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}
