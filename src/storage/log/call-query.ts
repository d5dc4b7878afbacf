import type { HistoryQuery } from '../../kernel/call/ledger.ts';
import { define, type Statement } from '../sql/statement.ts';
import type { Statements } from '../sql/statements.ts';
import type { AnsweredCall } from '../sql/tables.ts';
import { ANSWERED_BY, knownCalls } from '../statements/calls.ts';
import { toStoredName } from './payload.ts';

const DEFAULT_PAGE = 100;
const MAX_PAGE = 1000;

type QueryValues = Record<string, unknown>;

/** Prepares pages of calls. One statement is compiled for each combination of filters, at its first use. */
export class CallQueries {
  readonly #sql: Statements;
  readonly #known = new Map<string, Statement<QueryValues, AnsweredCall>>();

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  /** Queries one row more than the page holds: its presence shows that there is a next page. */
  prepare(query: HistoryQuery): {
    statement: Statement<QueryValues, AnsweredCall>;
    values: QueryValues;
    limit: number;
  } {
    const { session, tool, agent, states, newestFirst = false } = query;
    const limit = pageSize(query.limit);
    const [since, until] = [firstAt(query.since), firstAt(query.until)];
    const after = query.after === undefined ? undefined : cursor(query.after, newestFirst);
    const filters = Object.fromEntries(
      Object.entries({ session, tool, agent, since, until, after })
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => [name, typeof value === 'string' ? toStoredName(value) : value]),
    );
    const shape = `${Object.keys(filters).join('_')}_${states?.length ?? 'any'}_${newestFirst ? 'down' : 'up'}`;
    const statement = this.#known.get(shape) ?? this.#compile(Object.keys(filters), states?.length, newestFirst);
    this.#known.set(shape, statement);
    const wanted = Object.fromEntries((states ?? []).map((state, index) => [`state${index}`, state]));
    return { statement, values: { ...filters, ...wanted, limit: limit + 1 }, limit };
  }

  #compile(filters: string[], states: number | undefined, newestFirst: boolean) {
    return define<QueryValues>()((slots) => {
      let query = knownCalls(this.#sql.db).select(ANSWERED_BY);
      const has = (name: string) => filters.includes(name);
      if (has('session')) query = query.where('calls.session', '=', slots.session as string);
      if (has('tool')) query = query.where('tool', '=', slots.tool as string);
      if (has('agent')) query = query.where('agent', '=', slots.agent as string);
      if (has('since')) query = query.where('requested_at', '>=', slots.since as number);
      if (has('until')) query = query.where('requested_at', '<', slots.until as number);
      if (has('after')) query = query.where('calls.pos', newestFirst ? '<' : '>', slots.after as number);
      if (states === 0) query = query.where('state', '=', 'none of them');
      else if (states !== undefined) {
        const wanted = Array.from({ length: states }, (_, index) => slots[`state${index}`] as string);
        query = query.where('state', 'in', wanted);
      }
      return query.orderBy('calls.pos', newestFirst ? 'desc' : 'asc').limit(slots.limit as number);
    });
  }
}

/** Reads a cursor as a position. An invalid one selects nothing: starting over would repeat every call. */
function cursor(after: string, newestFirst: boolean): number {
  const pos = /^\d+$/.test(after) ? Number(after) : Number.NaN;
  return Number.isSafeInteger(pos) ? pos : newestFirst ? 0 : Number.MAX_SAFE_INTEGER;
}

function pageSize(limit = DEFAULT_PAGE): number {
  return Number.isNaN(limit) ? DEFAULT_PAGE : Math.max(1, Math.min(Math.floor(limit), MAX_PAGE));
}

/** Rounds up to whole milliseconds. A value that is no time sets no bound. */
function firstAt(time: number | undefined): number | undefined {
  return time !== undefined && Number.isFinite(time) ? Math.ceil(time) : undefined;
}
