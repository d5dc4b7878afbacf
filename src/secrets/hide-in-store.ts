import { createHash } from 'node:crypto';
import type { ApprovalRecord } from '../kernel/approval.ts';
import { type CallRecord, isFinal } from '../kernel/call/call.ts';
import type { CallMove, EventData, NewEvent, StoredEvent } from '../kernel/call/event.ts';
import type { Ledger } from '../kernel/call/ledger.ts';
import type { CallQuery, Page, Store, Vault } from '../kernel/ports.ts';
import { isPromise, type MaybePromise } from '../kernel/result.ts';
import { type SecretHider, wasHidden } from '../runtime/hide-secrets.ts';
import { withThoughts } from './opaque-thinking.ts';

/**
 * What the vault keeps of a call while it is needed: what runs, what a person is asked, by the question's id, and what
 * people put in its place, by its digest: which of several answers counts is for the store to say.
 */
interface Sealed {
  readonly args?: unknown;
  readonly asked?: Readonly<Record<string, Pick<EventData['approval.requested'], 'args' | 'reason' | 'shown'>>>;
  readonly edited?: Readonly<Record<string, unknown>>;
}

type Submitted = Awaited<ReturnType<Store['submit']>>;

const sealed = new WeakSet<object>();

/**
 * The same store, with secrets hidden in everything it records: arguments, questions, outcomes. What a call still needs
 * of them (to be shown to a person, to be taken over) is in the vault until the call has ended, and is put back into what
 * is read here. Digests are made before, so they are of the true arguments.
 */
export function sealStore<S extends Store>(
  store: S,
  { hide, hideArgs, hideKnown, holds }: SecretHider,
  vault: Vault,
): S {
  if (sealed.has(store)) return store;
  const ledger = store as unknown as Partial<Ledger>;
  /** Of this process. */
  const kept = new Set<string>();
  /** Calls with something to keep, of which the store has not said yet whether it took them: their end may be told first. */
  const submitting = new Set<string>();

  const changes: Partial<Ledger> = {
    submit(call, sure) {
      const args = hideArgs(call.args);
      // The name of no tool is whatever somebody wrote.
      const tool = hide(call.tool);
      const key = call.key !== null && holds(call.key) ? hiddenKey(call.key) : call.key;
      if (args === call.args && tool === call.tool && key === call.key)
        return then(store.submit(call, sure), withTrueArgs);
      if (args !== call.args) submitting.add(call.id);
      return then(
        store.submit({ ...call, tool, args, key }, sure),
        (submitted) => {
          if (submitting.delete(call.id) && submitted.event !== null) keepIfItCan(call.id, call.args);
          return withTrueArgs(submitted);
        },
        () => submitting.delete(call.id),
      );
    },
    move(callId, move, event) {
      const hidden = hiddenMove(move);
      const moved = store.move(callId, hidden, hiddenEvent(event));
      const isHidden = hidden.set?.args !== move.set?.args;
      if (!isHidden && !(isFinal(move.to) && (kept.has(callId) || submitting.has(callId)))) return moved;
      return then(moved, (stored) => {
        // Refused: the call is somebody else's now, and so is what is kept of it.
        if (stored === null) return null;
        if (isFinal(move.to)) forget(callId);
        else keepIfItCan(callId, move.set?.args);
        return stored;
      });
    },
    append: (session, events) => then(store.append(session, events.map(hiddenEvent)), (kept) => asSaid(events, kept)),
    call: (callId) => then(store.call(callId), (call) => call && revealedCall(call)),
    calls: (query) => then(store.calls(query), (page) => revealedPage(query, page)),
  };
  const { decide, note, record } = ledger;
  if (decide !== undefined) {
    changes.decide = (event, rules) => decide.call(store, hiddenEvent(event), rules?.map(hide));
  }
  if (note !== undefined) changes.note = (session, event) => note.call(store, session, hide(hiddenCalls(event)));
  if (record !== undefined) changes.record = (event) => record.call(store, hide(event));
  for (const name of ['approval', 'approvalOf'] as const) {
    const read = ledger[name];
    if (read !== undefined) changes[name] = (id) => then(read.call(store, id), (found) => found && revealed(found));
  }
  const { approvals, recover } = ledger;
  if (approvals !== undefined)
    changes.approvals = (query) => then(approvals.call(store, query), (all) => all.map(revealed));
  if (recover !== undefined) {
    changes.recover = async () => {
      await forgetEnded();
      return recover.call(store);
    };
  }

  const guarded = Object.assign(passing(store), changes) as unknown as S;
  sealed.add(guarded);
  return guarded;

  /** A call that was there before may be taken over by whoever repeats its key. */
  function withTrueArgs(submitted: Submitted): Submitted {
    return submitted.event === null ? { ...submitted, call: revealedCall(submitted.call) } : submitted;
  }

  function keep(callId: string, more: Sealed): void {
    kept.add(callId);
    const known = vault.get(callId) as Sealed | undefined;
    const asked = { ...known?.asked, ...more.asked };
    const edited = { ...known?.edited, ...more.edited };
    vault.keep(callId, { ...known, ...more, asked, edited });
  }

  /** Nobody is shown these. A call whose arguments cannot be kept runs as well; only nobody can take it over. */
  function keepIfItCan(callId: string, args: unknown): void {
    try {
      keep(callId, { args });
    } catch {
      // The store was told already.
    }
  }

  function forget(callId: string): void {
    submitting.delete(callId);
    kept.delete(callId);
    vault.forget(callId);
  }

  function hiddenMove(move: CallMove): CallMove {
    const { set } = move;
    if (set === undefined) return move;
    const args = hideArgs(set.args);
    const outcome = hide(set.outcome);
    return args === set.args && outcome === set.outcome
      ? move
      : { ...move, set: { ...set, ...pick({ args, outcome }) } };
  }

  /** What a person is shown is kept before they are asked, and what they wrote before it counts. */
  function hiddenEvent<E extends NewEvent>(given: E): E {
    const event = hiddenCalls(given);
    const data = event.data as { args?: unknown };
    const args = hideArgs(data.args);
    if (args === data.args && !holdsBeside(data)) return event;
    if (event.type === 'approval.requested') {
      const { approvalId, args: asked, reason, shown } = event.data;
      keep(event.callId, { asked: { [approvalId]: { args: asked, reason, ...(shown && { shown }) } } });
    }
    if (event.type === 'approval.decided' && event.data.args !== undefined)
      keep(event.callId, { edited: { [event.data.digest ?? '']: event.data.args } });
    const shown = { ...event, data: { ...hide(data), ...pick({ args }) } };
    return withThoughts(shown, event, hideKnown);
  }

  /** A turn names the arguments of its calls once more. */
  function hiddenCalls<E extends NewEvent>(event: E): E {
    if (event.type !== 'message.added' || event.data.turn === undefined) return event;
    const { turn } = event.data;
    const parts = turn.parts.map((part) => (part.type === 'call' ? { ...part, args: hideArgs(part.args) } : part));
    return { ...event, data: { ...event.data, turn: { ...turn, parts } } };
  }

  function holdsBeside(data: object): boolean {
    for (const key in data) {
      if (key !== 'args' && holds((data as Record<string, unknown>)[key])) return true;
    }
    return false;
  }

  function revealedCall(call: CallRecord): CallRecord {
    if (isFinal(call.state) || !wasHidden(call.args)) return call;
    const known = vault.get(call.id) as Sealed | undefined;
    return known?.args === undefined ? { ...call, isIncomplete: true } : { ...call, args: known.args };
  }

  /** Only those that somebody may take over: a list of what runs needs no secrets. */
  function revealedPage({ states }: CallQuery, page: Page<CallRecord>): Page<CallRecord> {
    return states?.length === 1 && states[0] === 'queued' ? { ...page, items: page.items.map(revealedCall) } : page;
  }

  function revealed(approval: ApprovalRecord): ApprovalRecord {
    const known = wasHidden(approval) ? (vault.get(approval.callId) as Sealed | undefined) : undefined;
    if (known === undefined) return approval;
    const asked = known.asked?.[approval.id];
    const edited = approval.edited === null ? undefined : known.edited?.[approval.edited.digest];
    return {
      ...approval,
      ...(asked && { args: asked.args, reason: asked.reason, shown: asked.shown ?? approval.shown }),
      ...(edited !== undefined && approval.edited !== null && { edited: { ...approval.edited, args: edited } }),
    };
  }

  /** Calls that others ended, as their time was over or their process gone. */
  async function forgetEnded(): Promise<void> {
    for (const callId of vault.list()) {
      const call = await store.call(callId);
      if (call === null || isFinal(call.state)) forget(callId);
    }
  }
}

/** Only to be found again by: who repeats the key is known by its hash. */
function hiddenKey(key: string): string {
  return `hidden:${createHash('sha256').update(key).digest('hex')}`;
}

/** Whoever adds to a conversation goes on with what was said; the record of it hides what records hide. */
function asSaid(events: readonly NewEvent[], stored: readonly StoredEvent[]): readonly StoredEvent[] {
  return stored.map((one, at) => (one.callId === null ? ({ ...one, data: events[at]?.data } as StoredEvent) : one));
}

/** Everything a store offers, as plain fields: looked up at every step of every call, where a proxy would take longer. */
function passing(store: object): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (let level = store; level !== Object.prototype && level !== null; level = Object.getPrototypeOf(level)) {
    for (const name of Object.getOwnPropertyNames(level)) {
      if (name === 'constructor' || Object.hasOwn(fields, name)) continue;
      const now = () => Reflect.get(store, name, store) as unknown;
      const value = now();
      if (typeof value === 'function') fields[name] = value.bind(store);
      else Object.defineProperty(fields, name, { get: now, enumerable: true });
    }
  }
  return fields;
}

function then<A, B>(value: MaybePromise<A>, next: (value: A) => B, onFailure?: () => void): MaybePromise<B> {
  if (!isPromise(value)) return next(value);
  if (onFailure !== undefined) value.catch(onFailure);
  return value.then(next);
}

function pick<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;
}
