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

/** What a database gives; its statement knows what is in it. */
export type Row = object;

/** A query that is built and compiled once, when it is first used; running it is only binding values. */
export interface Statement<P = never, R = unknown> {
  readonly sql: string;
  /** False for statements whose rows nobody wants. */
  readonly returns: boolean;
  bind(values: P): unknown[];
  /** Never set: carries the type of a row. */
  readonly row?: R;
}

/** One step of a piece of work: a statement and what it is bound to. */
export interface Query {
  readonly statement: Pick<Statement, 'sql' | 'returns'>;
  readonly values: unknown[];
}

/**
 * A piece of work inside a transaction, written once for a database that answers at once and for one that answers
 * later: it yields queries and is resumed with their rows, or with the error as a throw.
 */
export type Work<T> = Generator<Query, T, readonly Row[]>;

/**
 * For the paths of every call: `(yield ask(statement, values)) as readonly Row[]` saves the inner generator that `rows`
 * and `first` make, and with it a fifth of the time of a short transaction.
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

/** A Kysely that only builds and compiles. Running is done by the engines, on prepared statements. */
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

/** `define<Values>()(build)`: `build` uses the given slots where values will stand. */
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

/** A short command uses a few of all statements: compiling the rest would be most of its work. */
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

/** How many rows go into one statement. A call has three events; a round trip to a server is worth more of them. */
const ROWS_AT_ONCE: Record<Dialect, readonly number[]> = { sqlite: [24, 3, 1], postgres: [64, 8, 1] };

/** Inserts many rows. A statement is compiled for each of a few sizes, when it is first needed. */
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

/** A statement given as text, for what a builder does not know, such as SAVEPOINT. */
export function text(sql: string): Statement<void, never> {
  return { sql, returns: false, bind: () => [] };
}

/** Where a value will stand. Kysely hands it through to the compiled query's parameters. */
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
