import type { SessionView } from '../../src/protocol/sessions.ts';

export interface Runs {
  /** A run of this session began or ended, at this place of its record. */
  note(session: string, running: boolean, seq: number): void;
  forget(): void;
  /** A session as a list showed it, with what events have told since it was read. */
  upToDate(read: SessionView): SessionView;
}

/**
 * Whether an agent is at work, as events told it. A list that was read before them may come after them, and for a moment
 * after its end the server still counts a run.
 */
export function createRuns(): Runs {
  const told = new Map<string, { readonly running: boolean; readonly seq: number }>();
  return {
    note: (session, running, seq) => void told.set(session, { running, seq }),
    forget: () => told.clear(),
    upToDate(read) {
      const last = told.get(read.id);
      if (last === undefined) return read;
      const isLater = last.running ? last.seq > read.lastSeq : last.seq >= read.lastSeq;
      return isLater ? { ...read, running: last.running } : read;
    },
  };
}
