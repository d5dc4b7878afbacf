import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { Tables } from './tables.ts';

export type Dialect = 'sqlite' | 'postgres';

/** A row from the database; the type of its statement says what it holds. */
export type Row = object;

/** A query that is compiled once, at its first use; running it only binds values. */
export interface Statement<P = never, R = unknown> {
  readonly sql: string;
  /** False for statements that return no rows. */
  readonly returns: boolean;
  bind(values: P): unknown[];
  /** Never set: carries the type of a row. */
  readonly row?: R;
}

/** One step of a piece of work: a statement and its bound values. */
export interface Query {
  readonly statement: Pick<Statement, 'sql' | 'returns'>;
  readonly values: unknown[];
}

/**
 * A piece of work inside a transaction, written once for a synchronous and an asynchronous database: it yields queries
 * and is resumed with their rows, or with their error as a throw.
 */
export type Work<T> = Generator<Query, T, readonly Row[]>;

/**
 * For hot paths: `(yield ask(statement, values)) as readonly Row[]` saves the inner generator of `rows` and `first`,
 * which takes a fifth of the time of a short transaction.
 */
export function ask<P, R>(statement: Statement<P, R>, values: P): Query {
  return { statement, values: statement.bind(values) };
}

export function* rows<P, R>(statement: Statement<P, R>, values: P): Work<readonly R[]> {
  return (yield { statement, values: statement.bind(values) }) as readonly R[];
}

export function* first<P, R>(statement: Statement<P, R>, values: P): Work<R | undefined> {
  const all = (yield { statement, values: statement.bind(values) }) as readonly R[];
  return all[0];
}

/** Returns a Kysely that only builds and compiles. The engines run the statements. */
export function queryBuilder(dialect: Dialect): Kysely<Tables> {
  const sqlite = dialect === 'sqlite';
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => (sqlite ? new SqliteAdapter() : new PostgresAdapter()),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => (sqlite ? new SqliteIntrospector(db) : new PostgresIntrospector(db)),
      createQueryCompiler: () => (sqlite ? new SqliteQueryCompiler() : new PostgresQueryCompiler()),
    },
  });
}

interface Compilable<R> {
  compile(): CompiledQuery<R>;
}

/** `define<Values>()(build)`: `build` uses the given slots in place of values. */
export function define<P>() {
  return <R>(build: (slots: P) => Compilable<R>): Statement<P, R> => whenUsed(() => compiled(build));

  function compiled<R>(build: (slots: P) => Compilable<R>): Statement<P, R> {
    const query = build(slots<P>()).compile();
    const order = query.parameters.map((parameter) => (parameter instanceof Slot ? parameter.name : undefined));
    return {
      sql: query.sql,
      returns: isReading(query.sql),
      bind(values) {
        const bound: unknown[] = new Array(order.length);
        for (let i = 0; i < order.length; i++) {
          const key = order[i];
          bound[i] = key === undefined ? query.parameters[i] : values[key as keyof P];
        }
        return bound;
      },
    };
  }
}

/** Compiles a statement at its first use: a short command needs few, and compiling all would be most of its work. */
function whenUsed<P, R>(compile: () => Statement<P, R>): Statement<P, R> {
  let made: Statement<P, R> | undefined;
  const statement = () => {
    made ??= compile();
    return made;
  };
  return {
    get sql() {
      return statement().sql;
    },
    get returns() {
      return statement().returns;
    },
    bind: (values) => statement().bind(values),
  };
}

/** Rows per insert statement. A call has three events; a round trip to a server justifies larger inserts. */
const ROWS_AT_ONCE: Record<Dialect, readonly number[]> = { sqlite: [24, 3, 1], postgres: [64, 8, 1] };

/** Inserts many rows, with one compiled statement for each of a few sizes. */
export function defineMany<P extends object>(
  dialect: Dialect,
  columns: readonly (keyof P & string)[],
  build: (rows: P[]) => Compilable<unknown>,
) {
  const bySize = new Map<number, Statement<readonly P[], never>>();
  return function* insert(all: readonly P[]): Work<void> {
    for (let done = 0; done < all.length; ) {
      const size = ROWS_AT_ONCE[dialect].find((chunk) => chunk <= all.length - done) ?? 1;
      const statement = bySize.get(size) ?? compiled(size);
      const values = statement.bind(size === all.length ? all : all.slice(done, done + size));
      yield { statement, values };
      done += size;
    }
  };

  function compiled(size: number): Statement<readonly P[], never> {
    const row = Object.fromEntries(columns.map((column) => [column, new Slot(column)])) as P;
    const { sql } = build(Array.from({ length: size }, () => row)).compile();
    const statement: Statement<readonly P[], never> = {
      sql,
      returns: false,
      bind(rows) {
        const bound: unknown[] = new Array(rows.length * columns.length);
        let at = 0;
        for (const one of rows) for (const column of columns) bound[at++] = one[column];
        return bound;
      },
    };
    bySize.set(size, statement);
    return statement;
  }
}

/** A statement given as text, for SQL that the builder does not know, such as SAVEPOINT. */
export function text(sql: string): Statement<void, never> {
  return { sql, returns: false, bind: () => [] };
}

/** A placeholder for a value. Kysely passes it through to the parameters of the compiled query. */
class Slot {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

function slots<P>(): P {
  return new Proxy({}, { get: (_, name) => new Slot(String(name)) }) as P;
}

function isReading(sql: string): boolean {
  return /^\s*(select|with)\b/i.test(sql) || /\breturning\b/i.test(sql);
}
