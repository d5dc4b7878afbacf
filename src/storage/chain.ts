import { hash } from 'node:crypto';
import type { EventTable } from './sql/tables.ts';

/** What a hash covers: everything the row says, and through `previous` everything before it in the session. */
export function chainHash(previous: string, event: Omit<EventTable, 'hash'>): string {
  const { pos, session, seq, type, version, call_id, at, data, blob } = event;
  return hash('sha256', JSON.stringify([previous, pos, session, seq, type, version, call_id, at, data, blob]), 'hex');
}
