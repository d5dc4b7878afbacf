import { randomBytes } from 'node:crypto';

const PROCESS = randomBytes(12).toString('hex');
let count = 0;

/** Unique over processes and machines, and cheap: a UUID for each call would cost more than its validation. */
export function newCallId(): string {
  return `${PROCESS}-${++count}`;
}
