import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { tool as aiSdkTool, generateText, type LanguageModel, stepCountIs } from 'ai';
import { z } from 'zod';
import { createAgent } from '../src/agent/create-agent.ts';
import { ok } from '../src/kernel/result.ts';
import { defineTool } from '../src/kernel/tool/tool.ts';
import { openaiChatModel } from '../src/models/openai-chat.ts';
import { scriptedModel } from '../src/models/scripted.ts';
import { createToolwright } from '../src/runtime/create-toolwright.ts';
import { MemoryStore } from '../src/runtime/memory/memory-store.ts';
import { openSqliteStore } from '../src/storage/sqlite/open.ts';
import { crashRound, payingModel } from '../test/faults/agent-crash.ts';
import { compileProgram } from '../test/faults/compile-program.ts';
import { atMost, type Benchmark, type Measurement, median, reported, timesLess } from './benchmark.ts';

const CRASHES = Number(process.env.AGENT_CRASHES ?? 100);
const RUNS = 200;
const input = z.object({ n: z.number() });

const noop = defineTool({
  name: 'noop',
  description: 'Does nothing',
  effect: 'pure',
  input,
  access: () => [],
  run: async () => ok('ok'),
});

export const benchmark: Benchmark = {
  about: `The agent loop: one run is a turn with a no-op call and a turn that ends it, over HTTP on loopback, against generateText of the AI SDK on the same server; long sessions; ${CRASHES} kills.`,
  async run() {
    return [...(await overhead()), ...(await parallel()), ...(await longSession()), ...(await crashes())];
  },
};

/** Answers at once: first with a call, and with an end when a result is there. As a stream or as JSON, as asked. */
function chatServer() {
  return createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    const { messages, stream } = JSON.parse(text);
    const called = messages.at(-1).role === 'tool';
    const call = { id: 'c1', type: 'function', function: { name: 'noop', arguments: '{"n":1}' } };
    const message = called ? { content: 'Done.' } : { tool_calls: [{ index: 0, ...call }] };
    const finish_reason = called ? 'stop' : 'tool_calls';
    if (!stream) {
      response.setHeader('content-type', 'application/json');
      return response.end(JSON.stringify({ choices: [{ message, finish_reason }], usage: { prompt_tokens: 1 } }));
    }
    response.setHeader('content-type', 'text/event-stream');
    const events = [{ choices: [{ delta: message }] }, { choices: [{ delta: {}, finish_reason }] }];
    response.end(`${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`);
  });
}

async function overhead(): Promise<Measurement[]> {
  const server = chatServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const folder = mkdtempSync(join(tmpdir(), 'bench-agent-'));
  const opened = await openSqliteStore(folder);
  if (!opened.ok) throw new Error(opened.error.message);
  const model = openaiChatModel({ model: 'm', baseUrl: url, maxTokens: 1000, window: 100_000 });
  const memory = agentRun(new MemoryStore(), model);
  const durable = agentRun(opened.value.store, model);
  const times = await interleaved({ memory, peer: () => aiSdkRun(url) });
  // Apart: what it leaves in the caches of the machine would count against whoever comes next.
  const { durable: durably } = await interleaved({ durable });
  await opened.value.store.close();
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
  return [
    timesLess('a run of two turns and one call, in memory', times.memory, times.peer, 'ms', 1),
    reported('the same, every step durable in SQLite', durably, 'ms', times.peer),
  ];
}

function agentRun(
  store: Parameters<typeof createAgent>[0]['store'],
  model: Parameters<typeof createAgent>[0]['model'],
) {
  const { executor, context } = createToolwright({ tools: [noop], store });
  const agent = createAgent({ model, executor, store, context });
  let runs = 0;
  return async () => {
    const ran = await agent.run(`s${runs++}`, 'Go');
    if (!ran.ok || ran.value.reason !== 'done') throw new Error(JSON.stringify(ran));
  };
}

/** A provider as thin as it can be, so that what is measured is the loop of the AI SDK and not a provider of it. */
async function aiSdkRun(url: string): Promise<void> {
  const model = {
    specificationVersion: 'v3',
    provider: 'bench',
    modelId: 'm',
    supportedUrls: {},
    async doGenerate({ prompt }: { prompt: { role: string }[] }) {
      const body = JSON.stringify({ messages: prompt.map(({ role }) => ({ role })) });
      const answer = await fetch(`${url}/chat/completions`, { method: 'POST', body });
      const { choices } = (await answer.json()) as { choices: { message: Said }[] };
      const { content, tool_calls: calls = [] } = choices[0]?.message ?? {};
      const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
      return {
        content: [
          ...(content ? [{ type: 'text', text: content }] : []),
          ...calls.map(({ id, function: named }) => ({
            type: 'tool-call',
            toolCallId: id,
            toolName: named.name,
            input: named.arguments,
          })),
        ],
        finishReason: { unified: calls.length > 0 ? 'tool-calls' : 'stop', raw: '' },
        usage,
        warnings: [],
      };
    },
  } as unknown as LanguageModel;
  const tools = { noop: aiSdkTool({ description: 'Does nothing', inputSchema: input, execute: async () => 'ok' }) };
  const { text, steps } = await generateText({ model, tools, prompt: 'Go', stopWhen: stepCountIs(5) });
  if (text !== 'Done.' || steps.length !== 2) throw new Error(`the peer said ${text} in ${steps.length} steps`);
}

interface Said {
  content?: string;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
}

/** Median milliseconds of a run, taken in turn so that a busy moment of the machine hits all alike. */
async function interleaved<K extends string>(rounds: Record<K, () => Promise<unknown>>): Promise<Record<K, number>> {
  const names = Object.keys(rounds) as K[];
  const samples = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<K, number[]>;
  for (let sample = -10; sample < RUNS; sample++) {
    for (const name of names) {
      const start = performance.now();
      await rounds[name]();
      if (sample >= 0) samples[name].push(performance.now() - start);
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(samples[name])])) as Record<K, number>;
}

async function parallel(): Promise<Measurement[]> {
  const wait = defineTool({
    ...{ name: 'wait', description: 'Waits', effect: 'pure' as const, input, access: () => [] },
    run: async () => {
      await new Promise((done) => setTimeout(done, 200));
      return ok('ok');
    },
  });
  const store = new MemoryStore();
  const { executor, context } = createToolwright({ tools: [wait], store });
  const calls = [1, 2, 3, 4].map((n) => ({ name: 'wait', args: { n } }));
  const agent = createAgent({ model: scriptedModel([{ calls }, { text: 'Done.' }]), executor, store, context });
  const start = performance.now();
  await agent.run('s', 'Go');
  return [atMost('four parallel calls of 200 ms', performance.now() - start, 'ms', 300)];
}

/** The model is a script in process, so what is measured is the turn's own cost. */
async function longSession(): Promise<Measurement[]> {
  const TURNS = 2000;
  const store = new MemoryStore();
  const { executor, context } = createToolwright({ tools: [noop], store });
  const at: number[] = [];
  let heapAt200 = 0;
  const model = scriptedModel(
    () => {
      at.push(performance.now());
      if (at.length === 200) heapAt200 = used();
      return at.length <= TURNS
        ? { text: 'x'.repeat(300), calls: [{ name: 'noop', args: { n: at.length } }] }
        : { text: 'Done.' };
    },
    { window: 20_000 },
  );
  const agent = createAgent({ model, executor, store, context, budget: {} });
  await agent.run('s', 'Go');
  const grown = (used() - heapAt200) / 2 ** 20;
  const turn = (from: number) =>
    median(at.slice(from + 1, from + 100).map((time, index) => time - (at[from + index] ?? 0)));
  const [first, last] = [turn(100), turn(TURNS - 100)];
  return [
    {
      ...reported('a turn at the end of 2,000, over one at the beginning', last, 'ms', first),
      goal: 'at most 1.2 ×',
      met: last <= first * 1.2,
    },
    atMost('heap growth from turn 200 to turn 2,000', grown, 'MiB', 20),
  ];
}

/** Needs `--expose-gc`, which `npm run bench` gives. */
function used(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

async function crashes(): Promise<Measurement[]> {
  const program = compileProgram('test/faults/agent-program.ts');
  await using model = await payingModel();
  const problems: string[] = [];
  let kills = 0;
  for (let round = 0; round < CRASHES; round++) {
    const done = await crashRound(program, model, [1 + ((round * 7) % 45)]);
    kills += done.kills;
    problems.push(...done.problems);
  }
  rmSync(dirname(dirname(dirname(program))), { recursive: true });
  for (const problem of problems.slice(0, 10)) console.error(problem);
  return [
    reported(`kills between two steps of a run, in ${CRASHES} rounds`, kills, 'kills'),
    atMost('calls made twice, unanswered, or histories refused', problems.length, 'problems', 0),
  ];
}
