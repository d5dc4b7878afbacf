import type { NodeStamp } from '../../kernel/call/call.ts';
import type { Engine } from '../engine.ts';
import { first, type Work } from '../sql/statement.ts';
import type { Statements } from '../sql/statements.ts';
import type { Batch, StoreWrite } from './batch.ts';

/** The process that holds a session, and where people find it. */
export interface SessionHolder {
  readonly stamp: NodeStamp;
  /** Null when the row of the process is gone or has a later epoch. */
  readonly where: { readonly host: string; readonly pid: number } | null;
}

/**
 * Takes a session that is free or held by a process that has ended. Returns the holder if it is alive, undefined if
 * this process holds the session now.
 */
export async function holdSession(engine: Engine, session: string): Promise<SessionHolder | undefined> {
  const known = await engine.read(() => holderOf(engine.sql, session));
  if (known !== undefined && !(await hasEnded(engine, known))) return known;
  return engine.write(takeSession(engine, session, known?.stamp));
}

async function hasEnded(engine: Engine, { stamp, where }: SessionHolder): Promise<boolean> {
  // A hold of our own id is left from an earlier epoch, or from a release that failed.
  if (where === null || stamp.id === engine.node.id) return true;
  return (await engine.ended([stamp])).length > 0;
}

function takeSession(
  engine: Engine,
  session: string,
  from: NodeStamp | undefined,
): StoreWrite<SessionHolder | undefined> {
  return function* ({ sql, node }) {
    const other = from !== undefined && from.id !== node.id ? from : undefined;
    if (other !== undefined && engine.evict !== undefined && !(yield* engine.evict(other)))
      return yield* holderOf(sql, session);
    const took = { session, node: node.id, node_epoch: node.epoch };
    const left = { from_node: from?.id ?? '', from_epoch: from?.epoch ?? 0 };
    const taken = yield* first(sql.takeHold, { ...took, ...left });
    return taken === undefined ? yield* holderOf(sql, session) : undefined;
  };
}

export function releaseSession(session: string, epoch: number): StoreWrite<void> {
  return function* ({ sql, node }) {
    yield* first(sql.giveHoldBack, { session, node: node.id, node_epoch: epoch });
  };
}

/** Returns whether this process still holds the session that it took in this epoch. */
export function* isStillHeld({ sql, node }: Batch, session: string, epoch: number): Work<boolean> {
  const holder = yield* holderOf(sql, session);
  return node.epoch === epoch && holder?.stamp.id === node.id && holder.stamp.epoch === epoch;
}

function* holderOf(sql: Statements, session: string): Work<SessionHolder | undefined> {
  const row = yield* first(sql.holder, { session });
  if (row === undefined) return undefined;
  const { node: id, node_epoch: epoch, host, pid, epoch: now } = row;
  return { stamp: { id, epoch }, where: host === null || pid === null || now !== epoch ? null : { host, pid } };
}
