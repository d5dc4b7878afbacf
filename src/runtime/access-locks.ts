import { type Access, conflicts } from '../kernel/access.ts';

/** A place in the order of calls. It blocks every later one that conflicts with it until it is released. */
interface Ticket {
  readonly access: readonly Access[];
  readonly ancestors: ReadonlySet<Ticket>;
  /** Earlier tickets that have to go first. */
  waitingFor: number;
  readonly blocked: Ticket[];
  start: (() => void) | undefined;
  released: boolean;
}

export type { Ticket };

/**
 * Orders calls that touch the same thing, in the order they come; others run together. A ticket waits for earlier
 * ones only, so there is no circle to be stuck in. A call made inside another one passes through its parents' tickets.
 */
export class AccessLocks {
  readonly #held = new Set<Ticket>();

  /** Takes a place. The call may go at once if `waitingFor` is 0; otherwise await `turn`. */
  take(access: readonly Access[], parent?: Ticket): Ticket {
    const ancestors = parent === undefined ? NONE : new Set([parent, ...parent.ancestors]);
    const ticket: Ticket = { access, ancestors, waitingFor: 0, blocked: [], start: undefined, released: false };
    if (access.length === 0) return ticket;
    for (const earlier of this.#held) {
      if (ancestors.has(earlier) || !conflicts(earlier.access, access)) continue;
      ticket.waitingFor++;
      earlier.blocked.push(ticket);
    }
    this.#held.add(ticket);
    return ticket;
  }

  turn(ticket: Ticket): Promise<void> {
    return new Promise((resolve) => {
      if (ticket.waitingFor === 0) resolve();
      else ticket.start = resolve;
    });
  }

  /** Also for a ticket that never had its turn. */
  release(ticket: Ticket): void {
    if (ticket.released) return;
    ticket.released = true;
    this.#held.delete(ticket);
    for (const next of ticket.blocked) if (--next.waitingFor === 0) next.start?.();
  }
}

const NONE: ReadonlySet<Ticket> = new Set();
