import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../../src/storage/sqlite/open.ts';
import { type ModelServer, modelServer, type RawRequest } from '../../src/testing/model-server.ts';
import { anthropicEvents } from '../../src/testing/wire-turn.ts';

const TURNS = 3;
const CALLS = 3;

/** Asks for three payments in each of three turns, then is done; refuses a history that no provider would take. */
export function payingModel(): Promise<ModelServer> {
  return modelServer(({ body }: RawRequest) => {
    const turn = body.messages.filter(({ role }: { role: string }) => role === 'assistant').length;
    const start = { type: 'message_start', message: { usage: { input_tokens: 1 } } };
    const blocks = turn < TURNS ? Array.from({ length: CALLS }, (_, at) => payment(turn, at)) : [said('All paid.')];
    const end = { type: 'message_delta', delta: { stop_reason: turn < TURNS ? 'tool_use' : 'end_turn' } };
    const events = [start, ...blocks.flatMap(streamed), end, { type: 'message_stop' }];
    return { chunks: [anthropicEvents(...events).join('')] };
  });
}

interface Block {
  block: object;
  delta: object;
}

function payment(turn: number, at: number): Block {
  const json = JSON.stringify({ to: `${turn}.${at}` });
  return {
    block: { type: 'tool_use', id: `toolu_${turn}_${at}`, name: 'pay', input: {} },
    delta: { type: 'input_json_delta', partial_json: json },
  };
}

function said(text: string): Block {
  return { block: { type: 'text', text: '' }, delta: { type: 'text_delta', text } };
}

function streamed({ block, delta }: Block, index: number) {
  return [
    { type: 'content_block_start', index, content_block: block },
    { type: 'content_block_delta', index, delta },
    { type: 'content_block_stop', index },
  ];
}

export interface CrashRound {
  readonly kills: number;
  /** Empty when the run came to its end, nothing was paid twice, and every call has exactly one answer. */
  readonly problems: readonly string[];
}

/** Kills a run at each of the given places in turn, then lets it end, and looks at what it left. */
export async function crashRound(program: string, model: ModelServer, places: readonly number[]): Promise<CrashRound> {
  const folder = mkdtempSync(join(tmpdir(), 'agent-crash-'));
  try {
    let kills = 0;
    for (const place of places) if ((await runOnce(program, folder, model.url, place)) === 'killed') kills++;
    const said = await runOnce(program, folder, model.url, 0);
    const problems = said === 'done' || said === 'over' ? [] : [`the run ended with: ${said}`];
    return { kills, problems: [...problems, ...(await look(folder))].map((one) => `${places.join()}: ${one}`) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function runOnce(program: string, folder: string, url: string, dieAt: number): Promise<string> {
  const child = spawn(process.execPath, [program, folder, url, String(dieAt)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (said += text));
  const signal = await new Promise((done) => child.on('close', (_, by) => done(by)));
  return signal === null ? said.trim() : 'killed';
}

async function look(folder: string): Promise<string[]> {
  const opened = await openSqliteStore(folder);
  if (!opened.ok) return [opened.error.message];
  const { store } = opened.value;
  const events = await store.events('s1');
  await store.close();
  const paid = readFileSync(join(folder, 'paid.log'), 'utf8').trim().split('\n');
  const turns = events.flatMap((event) => (event.type === 'message.added' && event.data.turn ? [event.data.turn] : []));
  const asked = turns.flatMap(({ parts }) => parts.filter(({ type }) => type === 'call'));
  const answers = events.flatMap((event) => (event.type === 'results.added' ? event.data.results : []));
  const problems: string[] = [];
  if (new Set(paid).size !== paid.length) problems.push(`paid twice: ${paid.join(' ')}`);
  if (asked.length !== TURNS * CALLS || answers.length !== asked.length)
    problems.push(`${asked.length} calls and ${answers.length} answers`);
  for (const { isError, text } of answers) {
    if (isError && !text.includes('outcome is not known')) problems.push(`an answer says: ${text}`);
    if (!isError && !paid.some((to) => text.includes(`paid ${to}`))) problems.push(`not paid, although told: ${text}`);
  }
  if (events.at(-1)?.type !== 'run.finished') problems.push('the run is still open');
  return problems;
}
