import type { BlobStore } from '../kernel/ports.ts';
import { isPromise, type MaybePromise } from '../kernel/result.ts';
import { toJson } from './json.ts';

/** Above this many bytes a payload is a blob, and its row holds only the handle. */
const INLINE_BYTES = 32 * 1024;

/** JSON in the row, or the handle of the blob that holds it. Exactly one is set. */
export interface Payload {
  readonly data: string | null;
  readonly blob: string | null;
}

/** The blob is durable before the payload is handed out, so no event ever refers to one that is not there. */
export function toPayload(blobs: BlobStore, value: unknown): MaybePromise<Payload> {
  const data = toJson(value);
  // A UTF-16 unit takes one to three bytes: most are decided without counting.
  const small = data.length * 3 <= INLINE_BYTES || Buffer.byteLength(data) <= INLINE_BYTES;
  if (small) return { data, blob: null };
  const put = blobs.put(Buffer.from(data));
  return isPromise(put) ? put.then((blob) => ({ data: null, blob })) : { data: null, blob: put };
}

/** `missing` stands in for what its blob, or a damaged row, no longer tells, so that one of them breaks no page. */
export function fromPayload<T>(blobs: BlobStore, payload: Payload, missing: (handle: string) => T): MaybePromise<T> {
  const { data, blob } = payload;
  if (blob === null) return parsed(data ?? 'null', '');
  const got = blobs.get(blob);
  return isPromise(got) ? got.then(read) : read(got);

  function read(result: Awaited<typeof got>): T {
    return result.ok ? parsed(Buffer.from(result.value).toString(), blob ?? '') : missing(blob ?? '');
  }

  function parsed(text: string, handle: string): T {
    try {
      return JSON.parse(text) as T;
    } catch {
      return missing(handle);
    }
  }
}

/** All at once when all are there at once, so that reading rows without blobs takes no turn of the loop. */
export function together<T>(values: readonly MaybePromise<T>[]): MaybePromise<T[]> {
  return values.some(isPromise) ? Promise.all(values) : (values as T[]);
}

export function andThen<T, R>(value: MaybePromise<T>, next: (value: T) => R): MaybePromise<Awaited<R>> {
  return (isPromise(value) ? value.then(next) : next(value)) as MaybePromise<Awaited<R>>;
}

export function both<A, B, R>(a: MaybePromise<A>, b: MaybePromise<B>, next: (a: A, b: B) => R): MaybePromise<R> {
  if (!isPromise(a) && !isPromise(b)) return next(a, b);
  return Promise.all([a, b]).then(([someA, someB]) => next(someA, someB));
}
