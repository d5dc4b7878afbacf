import { SYSTEM_SESSION, type SystemEventData } from '../../kernel/call/event.ts';
import type { Engine } from '../engine.ts';
import { first, rows } from '../sql/statement.ts';
import type { EventTable, Tables } from '../sql/tables.ts';
import { toStoredName } from './payload.ts';
import { toDecisionRow, toRuleRow, toToolRow } from './projections.ts';
import { dataOf } from './told-calls.ts';

const PAGE = 500;
const MAX_TRIES = 5;

/** Compares the saved rules, the decisions about paths and the switched tools with the events that made them. */
export async function verifySettings(engine: Engine): Promise<string[]> {
  for (let tries = 1; ; tries++) {
    const before = await engine.read(() => first(engine.sql.logHead, undefined));
    const found = await compareSettings(engine);
    if (found.length === 0) return found;
    const after = await engine.read(() => first(engine.sql.logHead, undefined));
    const isQuiet = before?.pos === after?.pos && before?.pruned === after?.pruned;
    if (isQuiet || tries === MAX_TRIES) return found;
  }
}

async function compareSettings(engine: Engine): Promise<string[]> {
  const { sql } = engine;
  const { rules, decisions, tools, since } = await settingsInLog(engine);
  const ruleRows = (await engine.read(() => rows(sql.rules, undefined))).map(keptRule);
  const decisionRows = (await engine.read(() => rows(sql.pathDecisions, undefined))).map(keptDecision);
  const found = [
    ...differencesOf('the table of rules', { told: rules, present: ruleRows, since }),
    ...differencesOf('the table of decisions', { told: decisions, present: decisionRows, since }),
  ];
  for (const row of await engine.read(() => rows(sql.toolStates, undefined))) {
    const told = tools.get(row.tool);
    if (told === undefined ? row.changed_at >= since : !isSame(row, told))
      found.push(`Tool ${row.tool} is switched ${row.enabled === 1 ? 'on' : 'off'}, and no event says so.`);
    tools.delete(row.tool);
  }
  for (const { tool, enabled } of tools.values())
    found.push(`Tool ${tool} was switched ${enabled === 1 ? 'on' : 'off'}, says the log, and its row is missing.`);
  return found;
}

/** A row that an event saved and another one may remove. */
interface KeptRow {
  readonly id: string;
  readonly savedAt: number;
  /** As in "Rule r1, allow bash(ls)". */
  readonly subject: string;
  /** The part of the subject by which it can be told from others of its id. */
  readonly content: string;
  readonly row: object;
}

interface KeptRows {
  readonly saved: Map<string, KeptRow>;
  readonly removed: Set<string>;
}

function keptRule(row: Tables['rules']): KeptRow {
  const content = `${row.verdict} ${row.rule}`;
  return { id: row.id, savedAt: row.saved_at, subject: `Rule ${row.id}, ${content}`, content, row };
}

function keptDecision(row: Tables['path_decisions']): KeptRow {
  const content = `${row.kind} for ${row.path} in ${row.workspace}`;
  return { id: row.id, savedAt: row.decided_at, subject: `Decision ${row.id}, ${content}`, content, row };
}

interface ComparedRows {
  readonly told: KeptRows;
  readonly present: readonly KeptRow[];
  readonly since: number;
}

function differencesOf(table: string, { told: { saved, removed }, present, since }: ComparedRows): string[] {
  const found: string[] = [];
  const missing = new Map(saved);
  for (const { id, savedAt, subject, row } of present) {
    const told = saved.get(id);
    if (told !== undefined && !isSame(row, told.row))
      found.push(`${subject}, is ${told.content} in the log, or differs in who, when or where.`);
    if (told === undefined && removed.has(id)) found.push(`${subject}, was removed, says the log, and is in ${table}.`);
    else if (told === undefined && savedAt >= since) found.push(`${subject}, is in ${table}, and no event saved it.`);
    missing.delete(id);
  }
  for (const { subject } of missing.values())
    found.push(`${subject}, was saved, says the log, and is not in ${table}.`);
  return found;
}

/** `since`: whatever was saved before it may be of an event that was pruned. */
async function settingsInLog(engine: Engine) {
  const rules: KeptRows = { saved: new Map(), removed: new Set() };
  const decisions: KeptRows = { saved: new Map(), removed: new Set() };
  const tools = new Map<string, Tables['tool_states']>();
  const session = await engine.read(() => first(engine.sql.session, { session: SYSTEM_SESSION }));
  let since = (session?.pruned_seq ?? 0) === 0 ? 0 : Number.POSITIVE_INFINITY;
  for (let after = session?.pruned_seq ?? 0; ; ) {
    const page = await engine.read(() => rows(engine.sql.eventsAfter, { session: SYSTEM_SESSION, after, limit: PAGE }));
    for (const event of page) {
      since = Math.min(since, event.at);
      await applyRule(engine, event, rules);
      await applyDecision(engine, event, decisions);
      if (event.type !== 'tool.switched') continue;
      const data = await dataOf<SystemEventData['tool.switched']>(engine, event, ['tool']);
      if (data !== null) tools.set(toStoredName(data.tool), toToolRow(data, event.at));
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return { rules, decisions, tools, since };
    after = last.seq;
  }
}

async function applyRule(engine: Engine, event: EventTable, rules: KeptRows): Promise<void> {
  if (event.type === 'rule.saved') {
    const data = await dataOf<SystemEventData['rule.saved']>(engine, event, ['ruleId', 'rule']);
    if (data !== null) save(rules, keptRule(toRuleRow(data, event.at)));
  } else if (event.type === 'rule.removed') {
    const data = await dataOf<SystemEventData['rule.removed']>(engine, event, ['ruleId']);
    if (data !== null) remove(rules, toStoredName(data.ruleId));
  }
}

async function applyDecision(engine: Engine, event: EventTable, decisions: KeptRows): Promise<void> {
  if (event.type === 'path.decided') {
    const texts = ['decisionId', 'workspace', 'path', 'by'] as const;
    const data = await dataOf<SystemEventData['path.decided']>(engine, event, texts);
    if (data !== null) save(decisions, keptDecision(toDecisionRow(data, event.at)));
  } else if (event.type === 'path.taken_back') {
    const data = await dataOf<SystemEventData['path.taken_back']>(engine, event, ['decisionId']);
    if (data !== null) remove(decisions, toStoredName(data.decisionId));
  }
}

function save({ saved, removed }: KeptRows, row: KeptRow): void {
  saved.set(row.id, row);
  removed.delete(row.id);
}

function remove({ saved, removed }: KeptRows, id: string): void {
  saved.delete(id);
  removed.add(id);
}

function isSame(row: object, told: object): boolean {
  return Object.entries(told).every(([column, value]) => row[column as keyof typeof row] === value);
}
