/**
 * Why a store cannot be used. `full`: no space; `busy`: others hold it too long; `unreachable`: no connection;
 * `damaged`, `foreign`, `newer`: the file is not one this version may touch; `unsafe`: it would lose acknowledged
 * writes; `failed`: anything else.
 */
export type StoreTrouble = 'full' | 'busy' | 'unreachable' | 'damaged' | 'foreign' | 'newer' | 'unsafe' | 'failed';

/** Thrown by a store that cannot do its work. The message says what to do; the cause is the driver's own error. */
export class StoreError extends Error {
  readonly trouble: StoreTrouble;

  constructor(trouble: StoreTrouble, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'StoreError';
    this.trouble = trouble;
  }
}
