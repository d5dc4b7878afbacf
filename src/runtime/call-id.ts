import { randomBytes } from 'node:crypto';

const PROCESS = randomBytes(12).toString('hex');
const MOST_RESERVED = 10_000;
const reserved = new Set<string>();
let count = 0;

/** Unique over processes and machines, and cheap: a UUID for each call would cost more than its validation. */
export function nextCallId(): string {
  return `${PROCESS}-${++count}`;
}

/** An id that somebody must know before its call is made. */
export function newCallId(): string {
  const id = nextCallId();
  if (reserved.size >= MOST_RESERVED) for (const oldest of reserved) if (reserved.delete(oldest)) break;
  reserved.add(id);
  return id;
}

/** True once for an id from `newCallId`: no call can have it yet. Of any other only the store knows. */
export function isUnused(id: string): boolean {
  return reserved.delete(id);
}
