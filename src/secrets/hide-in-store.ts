import { hash } from 'node:crypto';
import type { ApprovalRecord } from '../kernel/call/approval.ts';
import { type CallRecord, isFinal } from '../kernel/call/call.ts';
import type { CallMove, EventData, NewEvent, StoredEvent } from '../kernel/call/event.ts';
import type { Ledger } from '../kernel/call/ledger.ts';
import type { CallQuery, Page, Store, Vault } from '../kernel/ports.ts';
import { andThen, isPromise } from '../kernel/result.ts';
import { type SecretHider, wasHidden } from './hide-secrets.ts';
import { keepOpaqueThinking } from './opaque-thinking.ts';

/**
 * The parts of a call that the vault keeps while the call needs them: its arguments, the questions to people by approval id,
 * and edited arguments by their digest, since only the store knows which of several answers counts.
 */
interface UnhiddenParts {
  readonly args?: unknown;
  readonly asked?: Readonly<Record<string, Pick<EventData['approval.requested'], 'args' | 'reason' | 'shown'>>>;
  readonly edited?: Readonly<Record<string, unknown>>;
}

type SubmitResult = Awaited<ReturnType<Store['submit']>>;

const sealed = new WeakSet<object>();

/**
 * Returns the same store, with secrets hidden in everything it records: arguments, questions, outcomes. The vault keeps the
 * parts that a call still needs (to show them to a person, to take the call over) until the call has ended; they are put
 * back into records read through this store. Digests are made before, so they are of the true arguments.
 */
export function hideInStore<S extends Store>(
  store: S,
  { hide, hideArgs, hideKnown, holds }: SecretHider,
  vault: Vault,
): S {
  if (sealed.has(store)) return store;
  const ledger = store as unknown as Partial<Ledger>;
  /** Calls of this process of which the vault keeps something. */
  const kept = new Set<string>();
  /** Calls with a secret that the store has not accepted yet: their end may be reported first. */
  const submitting = new Set<string>();

  const changes: Partial<Ledger> = {
    submit(call, sure) {
      const args = hideArgs(call.args);
      // An unknown tool name is arbitrary text.
      const tool = hide(call.tool);
      const key = call.key !== null && holds(call.key) ? hiddenKey(call.key) : call.key;
      if (args === call.args && tool === call.tool && key === call.key)
        return andThen(store.submit(call, sure), withTrueArgs);
      if (args !== call.args) submitting.add(call.id);
      const submission = store.submit({ ...call, tool, args, key }, sure);
      if (isPromise(submission)) submission.catch(() => submitting.delete(call.id));
      return andThen(submission, (submitted) => {
        if (submitting.delete(call.id) && submitted.event !== null) keepIfItCan(call.id, call.args);
        return withTrueArgs(submitted);
      });
    },
    move(callId, move, event) {
      const hidden = hiddenMove(move);
      const moved = store.move(callId, hidden, hiddenEvent(event));
      const isHidden = hidden.set?.args !== move.set?.args;
      if (!isHidden && !(isFinal(move.to) && (kept.has(callId) || submitting.has(callId)))) return moved;
      return andThen(moved, (stored) => {
        // Refused: the call belongs to another process now, and so does its entry in the vault.
        if (stored === null) return null;
        if (isFinal(move.to)) forget(callId);
        else keepIfItCan(callId, move.set?.args);
        return stored;
      });
    },
    append: (session, events) =>
      andThen(store.append(session, events.map(hiddenEvent)), (kept) => unhiddenEvents(events, kept)),
    call: (callId) => andThen(store.call(callId), (call) => call && revealedCall(call)),
    calls: (query) => andThen(store.calls(query), (page) => revealedPage(query, page)),
  };
  const { decide, note, record } = ledger;
  if (decide !== undefined) {
    changes.decide = (event, rules) => decide.call(store, hiddenEvent(event), rules?.map(hide));
  }
  if (note !== undefined) changes.note = (session, event) => note.call(store, session, hide(hiddenCalls(event)));
  if (record !== undefined) changes.record = (event) => record.call(store, hide(event));
  for (const name of ['approval', 'approvalOf'] as const) {
    const read = ledger[name];
    if (read !== undefined) changes[name] = (id) => andThen(read.call(store, id), (found) => found && revealed(found));
  }
  const { approvals, recover } = ledger;
  if (approvals !== undefined)
    changes.approvals = (query) => andThen(approvals.call(store, query), (all) => all.map(revealed));
  if (recover !== undefined) {
    changes.recover = async () => {
      await forgetEnded();
      return recover.call(store);
    };
  }

  const guarded = Object.assign(delegate(store), changes) as unknown as S;
  sealed.add(guarded);
  return guarded;

  /** A call that was there before may be taken over by a caller that repeats its key. */
  function withTrueArgs(submitted: SubmitResult): SubmitResult {
    return submitted.event === null ? { ...submitted, call: revealedCall(submitted.call) } : submitted;
  }

  function keep(callId: string, more: UnhiddenParts): void {
    kept.add(callId);
    const known = vault.get(callId) as UnhiddenParts | undefined;
    const asked = { ...known?.asked, ...more.asked };
    const edited = { ...known?.edited, ...more.edited };
    vault.keep(callId, { ...known, ...more, asked, edited });
  }

  /** A call whose arguments cannot be kept runs all the same; only no other process can take it over. */
  function keepIfItCan(callId: string, args: unknown): void {
    try {
      keep(callId, { args });
    } catch {
      // The store has accepted the call already.
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

  /** Keeps the question in the vault before a person is asked, and edited arguments before they count. */
  function hiddenEvent<E extends NewEvent>(unhidden: E): E {
    const event = hiddenCalls(unhidden);
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
    return keepOpaqueThinking(shown, event, hideKnown);
  }

  /** A turn repeats the arguments of its calls. */
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
    const known = vault.get(call.id) as UnhiddenParts | undefined;
    return known?.args === undefined ? { ...call, isIncomplete: true } : { ...call, args: known.args };
  }

  /** Reveals only calls that may be taken over: a list of running calls needs no secrets. */
  function revealedPage({ states }: CallQuery, page: Page<CallRecord>): Page<CallRecord> {
    return states?.length === 1 && states[0] === 'queued' ? { ...page, items: page.items.map(revealedCall) } : page;
  }

  function revealed(approval: ApprovalRecord): ApprovalRecord {
    const known = wasHidden(approval) ? (vault.get(approval.callId) as UnhiddenParts | undefined) : undefined;
    if (known === undefined) return approval;
    const asked = known.asked?.[approval.id];
    const edited = approval.edited === null ? undefined : known.edited?.[approval.edited.digest];
    return {
      ...approval,
      ...(asked && { args: asked.args, reason: asked.reason, shown: asked.shown ?? approval.shown }),
      ...(edited !== undefined && approval.edited !== null && { edited: { ...approval.edited, args: edited } }),
    };
  }

  /** Forgets calls that other processes ended, because their time was over or their process was gone. */
  async function forgetEnded(): Promise<void> {
    for (const callId of vault.list()) {
      const call = await store.call(callId);
      if (call === null || isFinal(call.state)) forget(callId);
    }
  }
}

/** A key is only looked up, and its hash is enough for that. */
function hiddenKey(key: string): string {
  return `hidden:${hash('sha256', key, 'hex')}`;
}

/** The caller gets back the conversation as it was said; only the record hides secrets. */
function unhiddenEvents(events: readonly NewEvent[], stored: readonly StoredEvent[]): readonly StoredEvent[] {
  return stored.map((one, at) => (one.callId === null ? ({ ...one, data: events[at]?.data } as StoredEvent) : one));
}

/** Copies every member of a store to plain fields: they are read at every step of every call, where a proxy would be slower. */
function delegate(store: object): Record<string, unknown> {
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

function pick<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;
}
