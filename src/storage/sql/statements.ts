import { blobStatements } from '../statements/blobs.ts';
import { callStatements } from '../statements/calls.ts';
import { logStatements } from '../statements/log.ts';
import { nodeStatements } from '../statements/nodes.ts';
import { projectionStatements } from '../statements/projections.ts';
import { pruneStatements } from '../statements/prune.ts';
import { settingsStatements } from '../statements/settings.ts';
import { type Dialect, queryBuilder, text } from './statement.ts';

export type Statements = ReturnType<typeof createStatements>;

/** All statements of the store in one dialect. */
export function createStatements(dialect: Dialect) {
  const db = queryBuilder(dialect);
  return {
    dialect,
    db,
    savepoint: text('SAVEPOINT unit'),
    release: text('RELEASE SAVEPOINT unit'),
    undo: text('ROLLBACK TO SAVEPOINT unit'),
    ...logStatements(db, dialect),
    ...callStatements(db, dialect),
    ...projectionStatements(db),
    ...settingsStatements(db),
    ...nodeStatements(db),
    ...pruneStatements(db),
    ...blobStatements(db),
  };
}
