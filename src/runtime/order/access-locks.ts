import { posix } from 'node:path';
import { type Access, conflicts, mayChange } from '../../kernel/tool/access.ts';

/** A position in the order of calls. It blocks every later ticket that conflicts with it until it is released. */
export class Ticket {
  readonly access: readonly Access[];
  readonly parent: Ticket | undefined;
  /** Earlier tickets that go first, without those that they wait for themselves. */
  readonly waitsFor = new Set<Ticket>();
  readonly blocks = new Set<Ticket>();
  /** Tickets of calls made inside this one. */
  readonly children = new Set<Ticket>();
  start: (() => void) | undefined;
  previous: Ticket | undefined;
  next: Ticket | undefined;
  held = false;

  constructor(access: readonly Access[], parent: Ticket | undefined) {
    this.access = access;
    this.parent = parent;
  }
}

/**
 * Orders calls that touch the same thing by arrival; other calls run in parallel. There is no deadlock: a call made
 * inside another one waits neither for its parents nor for tickets that wait for them.
 */
export class AccessLocks {
  #newest: Ticket | undefined;
  /** Counts ended calls that may have changed something. */
  changes = 0;

  /** `workingDir` resolves different spellings of one path. */
  take(access: readonly Access[], workingDir: string, parent?: Ticket): Ticket {
    const ticket = new Ticket(
      access.map((one) => absolute(one, workingDir)),
      parent,
    );
    const covered = new Set<Ticket>();
    for (let earlier = this.#newest; earlier !== undefined; earlier = earlier.previous) {
      if (covered.has(earlier)) {
        for (const further of earlier.waitsFor) covered.add(further);
      } else if (conflicts(earlier.access, ticket.access) && !(parent && dependsOnAny(earlier, ancestorsOf(ticket)))) {
        wait(ticket, earlier);
        for (const further of earlier.waitsFor) covered.add(further);
      }
    }
    parent?.children.add(ticket);
    this.#append(ticket);
    return ticket;
  }

  /** Returns undefined when the ticket may go at once. */
  turn(ticket: Ticket): Promise<void> | undefined {
    if (ticket.waitsFor.size === 0) return undefined;
    return new Promise((resolve) => {
      ticket.start = resolve;
    });
  }

  /** Releases a ticket, also one that never had its turn: later tickets then wait for those it waited for. */
  release(ticket: Ticket): void {
    if (!ticket.held) return;
    if (ticket.access.some(mayChange)) this.changes++;
    this.#remove(ticket);
    ticket.parent?.children.delete(ticket);
    for (const earlier of ticket.waitsFor) earlier.blocks.delete(ticket);
    for (const later of ticket.blocks) {
      later.waitsFor.delete(ticket);
      for (const earlier of ticket.waitsFor) wait(later, earlier);
      if (later.waitsFor.size === 0) later.start?.();
    }
  }

  #append(ticket: Ticket): void {
    ticket.held = true;
    ticket.previous = this.#newest;
    if (this.#newest !== undefined) this.#newest.next = ticket;
    this.#newest = ticket;
  }

  #remove(ticket: Ticket): void {
    ticket.held = false;
    if (ticket.previous !== undefined) ticket.previous.next = ticket.next;
    if (ticket.next !== undefined) ticket.next.previous = ticket.previous;
    else this.#newest = ticket.previous;
  }
}

function wait(later: Ticket, earlier: Ticket): void {
  later.waitsFor.add(earlier);
  earlier.blocks.add(later);
}

function ancestorsOf(ticket: Ticket): Set<Ticket> {
  const ancestors = new Set<Ticket>();
  for (let at = ticket.parent; at !== undefined; at = at.parent) ancestors.add(at);
  return ancestors;
}

/** A ticket depends on the tickets it waits for and on the calls made inside it. */
function dependsOnAny(ticket: Ticket, wanted: ReadonlySet<Ticket>, seen = new Set<Ticket>()): boolean {
  if (wanted.has(ticket)) return true;
  if (seen.has(ticket)) return false;
  seen.add(ticket);
  return [...ticket.waitsFor, ...ticket.children].some((next) => dependsOnAny(next, wanted, seen));
}

function absolute(access: Access, workingDir: string): Access {
  return 'path' in access ? { ...access, path: posix.resolve(workingDir, access.path) } : access;
}
