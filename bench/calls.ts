import { tool as langChainTool } from '@langchain/core/tools';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { McpServer } from '@modelcontextprotocol/server';
import { tool as aiSdkTool } from 'ai';
import { z } from 'zod';
import { createToolwright, defineTool, ok } from '../dist/index.js';
import { atMost, type Benchmark, type Measurement, reported, timesLess } from './benchmark.ts';

const input = z.object({ a: z.number(), b: z.number() });
const add = ({ a, b }: z.output<typeof input>) => a + b;
const ARGS = { a: 1, b: 2 };

export const benchmark: Benchmark = {
  about: 'One call in process: validate, policy, bounded record, emit; against the same function in other frameworks.',
  async run() {
    const times = await interleaved({ ours: await ours(), ...(await peers()) });
    return [
      timesLess('a call, against LangChain tool.invoke', times.ours, times.langChain, 'µs', 4),
      timesLess('a call, against MCP callTool in memory', times.ours, times.mcp, 'µs', 3),
      reported('a call, over the AI SDK: check the input, then execute', times.ours, 'µs', times.aiSdk),
      reported('a call, over a bare Zod parse and function', times.ours, 'µs', times.bare),
      ...(await heap()),
    ];
  },
};

async function ours(): Promise<() => Promise<unknown>> {
  const { call } = toolwright();
  return () => call('add', ARGS);
}

function toolwright() {
  const definition = {
    name: 'add',
    description: 'Add two numbers',
    effect: 'pure',
    input,
    output: z.number(),
  } as const;
  const tool = defineTool({ ...definition, access: () => [], run: async (args) => ok(add(args)) });
  return createToolwright({ tools: [tool] });
}

async function peers() {
  const parsed = async () => add(input.parse(ARGS));
  const langChain = langChainTool(async (args) => add(args), { name: 'add', description: 'Add', schema: input });
  const aiSdk = aiSdkTool({ description: 'Add', inputSchema: input, execute: async (args) => add(args) });
  const mcp = await mcpClient();
  return {
    bare: parsed,
    langChain: () => langChain.invoke(ARGS),
    // As generateText handles a call that the model requested: check the input, then execute.
    aiSdk: async () => aiSdk.execute?.(await input.parseAsync(ARGS), { toolCallId: '1', messages: [] }),
    mcp: () => mcp.callTool({ name: 'add', arguments: ARGS }),
  };
}

async function mcpClient(): Promise<Client> {
  const server = new McpServer({ name: 'peer', version: '1.0.0' });
  server.registerTool('add', { description: 'Add', inputSchema: input }, async (args) => ({
    content: [{ type: 'text', text: String(add(args)) }],
  }));
  const client = new Client({ name: 'bench', version: '1.0.0' });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(far), client.connect(near)]);
  return client;
}

/** Microseconds a call: the best of nine samples, taken in turn, so that a busy moment of the machine decides nothing. */
async function interleaved<K extends string>(rounds: Record<K, () => Promise<unknown>>): Promise<Record<K, number>> {
  const names = Object.keys(rounds) as K[];
  const samples = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<K, number[]>;
  for (let sample = -2; sample < 9; sample++) {
    for (const name of names) {
      const start = performance.now();
      for (let i = 0; i < 5000; i++) await rounds[name]();
      if (sample >= 0) samples[name].push(((performance.now() - start) * 1000) / 5000);
    }
  }
  return Object.fromEntries(names.map((name) => [name, Math.min(...samples[name])])) as Record<K, number>;
}

/** Needs `--expose-gc`, which `npm run bench` gives. */
async function heap(): Promise<Measurement[]> {
  const { call } = toolwright();
  for (let i = 0; i < 20_000; i++) await call('add', ARGS);
  const before = used();
  for (let i = 0; i < 1_000_000; i++) await call('add', ARGS);
  return [atMost('heap growth over 1,000,000 calls', (used() - before) / 2 ** 20, 'MiB', 20)];
}

function used(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
