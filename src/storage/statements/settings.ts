import type { Kysely } from 'kysely';
import { define } from '../sql/statement.ts';
import type { Tables } from '../sql/tables.ts';

/** Statements of rules, decisions about paths, and switched tools. */
export function settingsStatements(db: Kysely<Tables>) {
  return {
    saveRule: define<Tables['rules']>()((slots) =>
      db
        .insertInto('rules')
        .values({
          id: slots.id,
          rule: slots.rule,
          verdict: slots.verdict,
          saved_by: slots.saved_by,
          saved_at: slots.saved_at,
          workspace: slots.workspace,
        })
        .onConflict((conflict) =>
          conflict.column('id').doUpdateSet({
            rule: (eb) => eb.ref('excluded.rule'),
            verdict: (eb) => eb.ref('excluded.verdict'),
            saved_by: (eb) => eb.ref('excluded.saved_by'),
            saved_at: (eb) => eb.ref('excluded.saved_at'),
            workspace: (eb) => eb.ref('excluded.workspace'),
          }),
        ),
    ),
    removeRule: define<{ id: string }>()(({ id }) => db.deleteFrom('rules').where('id', '=', id)),
    rules: define<void>()(() => db.selectFrom('rules').selectAll().orderBy('saved_at').orderBy('id')),
    decidePath: define<Tables['path_decisions']>()((slots) =>
      db
        .insertInto('path_decisions')
        .values({
          id: slots.id,
          workspace: slots.workspace,
          path: slots.path,
          kind: slots.kind,
          digest: slots.digest,
          decided_by: slots.decided_by,
          decided_at: slots.decided_at,
        })
        .onConflict((conflict) =>
          conflict.column('id').doUpdateSet({
            workspace: (eb) => eb.ref('excluded.workspace'),
            path: (eb) => eb.ref('excluded.path'),
            kind: (eb) => eb.ref('excluded.kind'),
            digest: (eb) => eb.ref('excluded.digest'),
            decided_by: (eb) => eb.ref('excluded.decided_by'),
            decided_at: (eb) => eb.ref('excluded.decided_at'),
          }),
        ),
    ),
    takePathBack: define<{ id: string }>()(({ id }) => db.deleteFrom('path_decisions').where('id', '=', id)),
    pathDecisions: define<void>()(() =>
      db.selectFrom('path_decisions').selectAll().orderBy('decided_at').orderBy('id'),
    ),
    switchTool: define<Tables['tool_states']>()((slots) =>
      db
        .insertInto('tool_states')
        .values({ tool: slots.tool, enabled: slots.enabled, changed_at: slots.changed_at })
        .onConflict((conflict) =>
          conflict.column('tool').doUpdateSet({
            enabled: (eb) => eb.ref('excluded.enabled'),
            changed_at: (eb) => eb.ref('excluded.changed_at'),
          }),
        ),
    ),
    toolStates: define<void>()(() => db.selectFrom('tool_states').selectAll().orderBy('tool')),
  };
}
