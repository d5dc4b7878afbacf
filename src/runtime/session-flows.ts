import {
  FORGOTTEN_FLOW,
  flowAfter,
  NO_FLOW,
  type OpenFlowQuestions,
  type SessionFlow,
} from '../kernel/call/session-flow.ts';
import type { Store } from '../kernel/ports.ts';
import { andThen, type MaybePromise } from '../kernel/result.ts';

/**
 * The flow of each session, derived from its recorded events alone: so it holds after a restart and for calls that other
 * processes make. Events that were read once are not read again.
 */
export class SessionFlows {
  readonly #store: Pick<Store, 'events'>;
  readonly #read = new Map<string, ReadFlow>();

  constructor(store: Pick<Store, 'events'>) {
    this.#store = store;
  }

  /** Returns the flow up to the latest recorded event. */
  of(session: string): MaybePromise<SessionFlow> {
    const known = this.#read.get(session) ?? { seq: 0, flow: NO_FLOW, open: new Map() };
    return andThen(this.#store.events(session, known.seq, PAGE), (events) => {
      const next = { ...known, open: new Map(known.open) };
      for (const event of events) {
        if (event.seq !== next.seq + 1) next.flow = { ...FORGOTTEN_FLOW, agreed: next.flow.agreed };
        next.flow = flowAfter(next.flow, event, next.open);
        next.seq = event.seq;
      }
      this.#keep(session, next);
      return events.length < PAGE ? next.flow : this.of(session);
    });
  }

  /** Two reads of one session may overlap: the one that came further counts. */
  #keep(session: string, read: ReadFlow): void {
    if ((this.#read.get(session)?.seq ?? 0) > read.seq) return;
    this.#read.delete(session);
    this.#read.set(session, read);
    const [oldest] = this.#read.keys();
    if (this.#read.size > MAX_SESSIONS && oldest !== undefined) this.#read.delete(oldest);
  }
}

interface ReadFlow {
  seq: number;
  flow: SessionFlow;
  readonly open: OpenFlowQuestions;
}

const PAGE = 500;
const MAX_SESSIONS = 1000;
