import type { HistoryQuery } from '../../kernel/call/ledger.ts';
import { nameOf } from '../names.ts';
import { define, type Statement } from '../sql/statement.ts';
import { ANSWERED_BY, knownCalls } from '../statements/calls.ts';
import type { Statements } from '../sql/statements.ts';
import type { ShownCall } from '../sql/tables.ts';

const DEFAULT_PAGE = 100;
const LARGEST_PAGE = 1000;

type Values = Record<string, unknown>;

/** Pages of calls. One statement is compiled for each combination of filters, when it is first asked for. */
export class CallQueries {
  readonly #sql: Statements;
  readonly #known = new Map<string, Statement<Values, ShownCall>>();

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  /** Asks for one row more than the page holds: whether it comes tells if there is a next page. */
  prepare(query: HistoryQuery): { statement: Statement<Values, ShownCall>; values: Values; limit: number } {
    const { session, tool, agent, states, newestFirst = false } = query;
    const limit = pageSize(query.limit);
    const [since, until] = [firstAt(query.since), firstAt(query.until)];
    const after = query.after === undefined ? undefined : cursor(query.after, newestFirst);
    const filters = Object.fromEntries(
      Object.entries({ session, tool, agent, since, until, after })
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => [name, typeof value === 'string' ? nameOf(value) : value]),
    );
    const shape = `${Object.keys(filters).join('_')}_${states?.length ?? 'any'}_${newestFirst ? 'down' : 'up'}`;
    const statement = this.#known.get(shape) ?? this.#compile(Object.keys(filters), states?.length, newestFirst);
    this.#known.set(shape, statement);
    const wanted = Object.fromEntries((states ?? []).map((state, index) => [`state${index}`, state]));
    return { statement, values: { ...filters, ...wanted, limit: limit + 1 }, limit };
  }

  #compile(filters: string[], states: number | undefined, newestFirst: boolean) {
    return define<Values>()((slots) => {
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

/** A cursor is a position. One that is none gives nothing: starting over would give everything twice. */
function cursor(after: string, newestFirst: boolean): number {
  const pos = /^\d+$/.test(after) ? Number(after) : Number.NaN;
  return Number.isSafeInteger(pos) ? pos : newestFirst ? 0 : Number.MAX_SAFE_INTEGER;
}

function pageSize(limit = DEFAULT_PAGE): number {
  return Number.isNaN(limit) ? DEFAULT_PAGE : Math.max(1, Math.min(Math.floor(limit), LARGEST_PAGE));
}

/** The first whole millisecond at or after this one; undefined, no bound, for what is no time. */
function firstAt(time: number | undefined): number | undefined {
  return time !== undefined && Number.isFinite(time) ? Math.ceil(time) : undefined;
}
