import type { NodeStamp } from '../kernel/call/call.ts';
import type { Batch, Unit } from './log/batch.ts';
import type { Engine } from './engine.ts';
import { first, type Work } from './sql/statement.ts';
import type { Statements } from './sql/statements.ts';

/** Who has a session: a process, and how people find it. */
export interface Holder {
  readonly stamp: NodeStamp;
  /** Null when the process's own row is gone, or tells of a later life. */
  readonly where: { readonly host: string; readonly pid: number } | null;
}

/**
 * Takes a session for this process, from nobody or from a process that has ended. Gives back who has it instead, if
 * that one lives.
 */
export async function takeHold(engine: Engine, session: string): Promise<Holder | undefined> {
  const known = await engine.read(() => holderOf(engine.sql, session));
  if (known !== undefined && !(await isOver(engine, known))) return known;
  return engine.write(takeUnit(engine, session, known?.stamp));
}

async function isOver(engine: Engine, { stamp, where }: Holder): Promise<boolean> {
  // Of our own this can only be what an earlier life left, or what could not be given back.
  if (where === null || stamp.id === engine.node.id) return true;
  return (await engine.ended([stamp])).length > 0;
}

function takeUnit(engine: Engine, session: string, from: NodeStamp | undefined): Unit<Holder | undefined> {
  return function* ({ sql, node }) {
    const other = from !== undefined && from.id !== node.id ? from : undefined;
    if (other !== undefined && engine.giveUp !== undefined && !(yield* engine.giveUp(other)))
      return yield* holderOf(sql, session);
    const took = { session, node: node.id, node_epoch: node.epoch };
    const left = { from_node: from?.id ?? '', from_epoch: from?.epoch ?? 0 };
    const taken = yield* first(sql.takeHold, { ...took, ...left });
    return taken === undefined ? yield* holderOf(sql, session) : undefined;
  };
}

export function giveBackUnit(session: string, epoch: number): Unit<void> {
  return function* ({ sql, node }) {
    yield* first(sql.giveHoldBack, { session, node: node.id, node_epoch: epoch });
  };
}

/** Whether this process still has what it took in that life of it. */
export function* stillHolds({ sql, node }: Batch, session: string, epoch: number): Work<boolean> {
  const holder = yield* holderOf(sql, session);
  return node.epoch === epoch && holder?.stamp.id === node.id && holder.stamp.epoch === epoch;
}

function* holderOf(sql: Statements, session: string): Work<Holder | undefined> {
  const row = yield* first(sql.holder, { session });
  if (row === undefined) return undefined;
  const { node: id, node_epoch: epoch, host, pid, epoch: now } = row;
  return { stamp: { id, epoch }, where: host === null || pid === null || now !== epoch ? null : { host, pid } };
}
