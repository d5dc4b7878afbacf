import { type Kysely, sql } from 'kysely';
import { define } from '../sql/statement.ts';
import type { ApprovalTable, SessionInfoTable, Tables } from '../sql/tables.ts';

interface Decision extends Pick<ApprovalTable, 'id' | 'state' | 'message' | 'decision' | 'decision_blob'> {
  at: number;
  by: string | null;
}

interface ApprovalFilter {
  state: string | null;
  session: string | null;
  after: string | null;
  limit: number;
}

/** Selects approvals requested after the one with this id, and none when that id is unknown. */
function isBehind(after: string | null) {
  return sql<boolean>`(requested_at, id) > ((select requested_at from approvals where id = ${after}), ${after})`;
}

export function projectionStatements(db: Kysely<Tables>) {
  return {
    insertApproval: define<ApprovalTable>()((slots) =>
      db.insertInto('approvals').values({
        id: slots.id,
        call_id: slots.call_id,
        session: slots.session,
        tool: slots.tool,
        args: slots.args,
        args_blob: slots.args_blob,
        reason: slots.reason,
        digest: slots.digest,
        asked: slots.asked,
        state: slots.state,
        requested_at: slots.requested_at,
        expires_at: slots.expires_at,
        decided_at: null,
        decided_by: null,
        message: null,
        decision: null,
        decision_blob: null,
      }),
    ),
    approval: define<{ id: string }>()(({ id }) => db.selectFrom('approvals').selectAll().where('id', '=', id)),
    approvalRows: define<{ session: string; after: string; limit: number }>()(({ session, after, limit }) =>
      db
        .selectFrom('approvals')
        .selectAll()
        .where('session', '=', session)
        .where('id', '>', after)
        .orderBy('id')
        .limit(limit),
    ),
    latestApproval: define<{ call: string }>()(({ call }) =>
      db
        .selectFrom('approvals')
        .selectAll()
        .where('call_id', '=', call)
        .orderBy('requested_at', 'desc')
        .orderBy('id', 'desc')
        .limit(1),
    ),
    /** Selects a row if the call still awaits approval. */
    pendingApproval: define<{ call: string }>()(({ call }) =>
      db.selectFrom('approvals').select('id').where('call_id', '=', call).where('state', '=', 'pending').limit(1),
    ),
    openSession: define<SessionInfoTable>()((slots) =>
      db
        .insertInto('session_info')
        .values({ id: slots.id, workspace: slots.workspace, title: slots.title, agent: slots.agent })
        .onConflict((conflict) => conflict.column('id').doNothing()),
    ),
    /** The first decision wins: only a pending approval changes. */
    decideApproval: define<Decision>()(({ id, state, at, by, message, decision, decision_blob }) =>
      db
        .updateTable('approvals')
        .set({ state, decided_at: at, decided_by: by, message, decision, decision_blob })
        .where('id', '=', id)
        .where('state', '=', 'pending')
        .returning(['id', 'expires_at']),
    ),
    /** Closes the pending approvals of a call that ended. */
    closeApprovals: define<{ call: string; at: number }>()(({ call, at }) =>
      db
        .updateTable('approvals')
        .set({ state: 'superseded', decided_at: at })
        .where('call_id', '=', call)
        .where('state', '=', 'pending'),
    ),
    overdueApprovals: define<{ now: number }>()(({ now }) =>
      db
        .selectFrom('approvals')
        .selectAll()
        .where('state', '=', 'pending')
        .where('expires_at', 'is not', null)
        .where('expires_at', '<=', now),
    ),
    approvals: define<ApprovalFilter>()(({ state, session, after, limit }) =>
      db
        .selectFrom('approvals')
        .selectAll()
        .where((eb) => eb.or([eb('state', '=', state), eb(sql`cast(${state} as text)`, 'is', null)]))
        .where((eb) => eb.or([eb('session', '=', session), eb(sql`cast(${session} as text)`, 'is', null)]))
        .where((eb) => eb.or([isBehind(after), eb(sql`cast(${after} as text)`, 'is', null)]))
        .orderBy('requested_at')
        .orderBy('id')
        .limit(limit),
    ),
  };
}
