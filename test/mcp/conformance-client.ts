// The client that the conformance suite starts: connects to the given URL and calls every tool there.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { openRemoteTools } from '../../src/app/mcp/remote-tools.ts';
import type { JsonSchema } from '../../src/kernel/tool/input-schema.ts';
import { createToolwright } from '../../src/runtime/create-toolwright.ts';

const url = process.argv.at(-1) ?? '';
const revision = process.env['MCP_CONFORMANCE_PROTOCOL_VERSION'] ?? '2025-11-25';
const { toolCalls = [] } = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as {
  toolCalls?: { name: string; arguments: Record<string, unknown> }[];
};

const stateDir = mkdtempSync(join(tmpdir(), 'toolwright-conformance-'));
process.on('exit', () => rmSync(stateDir, { recursive: true, force: true }));
const { registry, executor, context } = createToolwright({ timeout: 20 });
const remote = await openRemoteTools(
  { suite: { url, protocol: revision.startsWith('2026') ? '2026' : '2025' } },
  {
    registry,
    stateDir,
    version: '0.0.0',
    log: pino({ level: 'silent' }),
    patienceMs: 20_000,
    answerForm: async () => ({ action: 'accept', content: {} }),
  },
);
await Promise.all(
  executor.offered().map(async ({ name, input }) => {
    const given = toolCalls.find((call) => `suite__${call.name}` === name)?.arguments ?? example(input.json);
    const args = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
    const answer = await executor.execute(name, context, args);
    console.error(name, answer.text.slice(0, 200));
  }),
);
await remote.close();
process.exit(0);

function example({ properties = {} }: JsonSchema): Record<string, unknown> {
  const made = Object.entries(properties as Record<string, JsonSchema>).map(([name, { type }]) => [
    name,
    type === 'number' || type === 'integer' ? 1 : type === 'boolean' ? true : type === 'string' ? 'x' : undefined,
  ]);
  return Object.fromEntries(made.filter(([, value]) => value !== undefined));
}
