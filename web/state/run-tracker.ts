import type { SessionView } from '../../src/protocol/sessions.ts';

export interface RunTracker {
  /** Notes that a run of this session began or ended at this sequence number. */
  note(session: string, running: boolean, seq: number): void;
  forget(): void;
  /** Returns a listed session with the running state that later events reported. */
  correct(read: SessionView): SessionView;
}

/**
 * Tracks by events whether an agent is working. A list of sessions read before an event may arrive after it, and the
 * server still counts a run for a moment after its end.
 */
export function createRunTracker(): RunTracker {
  const told = new Map<string, { readonly running: boolean; readonly seq: number }>();
  return {
    note: (session, running, seq) => void told.set(session, { running, seq }),
    forget: () => told.clear(),
    correct(read) {
      const last = told.get(read.id);
      if (last === undefined) return read;
      const isLater = last.running ? last.seq > read.lastSeq : last.seq >= read.lastSeq;
      return isLater ? { ...read, running: last.running } : read;
    },
  };
}
