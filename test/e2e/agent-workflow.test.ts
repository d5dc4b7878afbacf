import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Tool as AnthropicTool } from '@anthropic-ai/sdk/resources/messages';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openAgent } from '../../src/app/agent/open-agent.ts';
import { openModel } from '../../src/app/agent/open-model.ts';
import { type App, openApp } from '../../src/app/open-app.ts';
import { toAnthropicTool } from '../../src/schema/formats.ts';
import { modelServer, type RawRequest } from '../../src/testing/model-server.ts';
import { anthropicReply, type WireTurn } from '../../src/testing/wire-turn.ts';

const DEMO = resolve(import.meta.dirname, '../../examples/demo-workspace');

let top: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'workflow-'));
  cpSync(DEMO, join(top, 'ws'), { recursive: true });
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

/** The whole app on a copy of the demo workspace, with a model on the real wire format. */
async function workflow(
  turns: readonly WireTurn[],
  work: (app: App, requests: readonly RawRequest[]) => Promise<void>,
) {
  await using server = await modelServer((_, index) => anthropicReply(turns[index] ?? { text: 'Done.' }, index));
  const env = {
    PATH: process.env.PATH,
    XDG_STATE_HOME: join(top, 'state'),
    TOOLWRIGHT_MODE: 'auto',
    TOOLWRIGHT_TOOLSET: 'essentials',
    TOOLWRIGHT_PROVIDER: 'anthropic',
    TOOLWRIGHT_MODEL_BASE_URL: server.url,
  };
  const app = await openApp({ workspace: join(top, 'ws'), env, home: top });
  if (!app.ok) throw new Error(app.error.message);
  try {
    await work(app.value, server.requests);
  } finally {
    await app.value.close();
  }
}

async function run(app: App, task: string) {
  const model = openModel(app.loaded.config, { TOOLWRIGHT_PROVIDER: 'anthropic' });
  if (!model.ok) throw new Error(model.error.message);
  return openAgent(app, model.value).run('s1', task);
}

const bash = (command: string) => ({ name: 'bash', args: { command } });
const read = (path: string) => ({ name: 'read_file', args: { path } });

test('[A15] [A05] [A16] data is read, analysed, read back and reported over the Anthropic wire', {
  timeout: 60_000,
}, async () => {
  const turns = [
    { text: 'I read the data.', calls: [read('data/mock_gerrit_data.json')] },
    { calls: [bash('python3 .claude/skills/gerrit_analysis.py > analysis.json')] },
    { calls: [read('analysis.json'), read('missing.json')] },
    { calls: [bash('python3 .claude/skills/generate_report.py')] },
    { text: 'The report is written.' },
  ];
  await workflow(turns, async (app, requests) => {
    const ran = await run(app, 'Analyse the data and write the report');
    expect(ran).toMatchObject({ ok: true, value: { reason: 'done', text: 'The report is written.', turns: 5 } });
    expect(readFileSync(join(top, 'ws/reports/efficiency_report.md'), 'utf8')).toContain('# Review efficiency');
    const results = requests.slice(1).map(({ body }) => body.messages.at(-1));
    expect(results.map(({ role, content }) => [role, ...content.map((block: { type: string }) => block.type)])).toEqual(
      [
        ['user', 'tool_result'],
        ['user', 'tool_result'],
        ['user', 'tool_result', 'tool_result'],
        ['user', 'tool_result'],
      ],
    );
    expect(results[0].content[0].content).toContain('payments-service');
    expect(results[2].content.map(({ is_error = false }) => is_error)).toEqual([false, true]);
    expect(results[2].content[0].content).toContain('"changes": 8');
  });
});

test('[A01] the model is told of every tool with its name, description and input_schema', async () => {
  await workflow([{ text: 'Hello.' }], async (app, requests) => {
    await run(app, 'Hello');
    const offered: AnthropicTool[] = app.executor.offered().map(toAnthropicTool);
    const told = requests[0]?.body.tools.map(({ cache_control: _, ...tool }: AnthropicTool) => tool);
    expect(told).toEqual(offered);
    for (const { name, description, input_schema: schema } of told) {
      expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      expect(description).not.toBe('');
      expect(schema.type).toBe('object');
    }
  });
});

test('[A02] an agent with the essentials has exactly these four, and may call any', async () => {
  await workflow([{ calls: [read('README.md')] }], async (app, requests) => {
    await run(app, 'Hello');
    const names = requests[0]?.body.tools.map(({ name }: AnthropicTool) => name);
    expect(names.toSorted()).toEqual(['bash', 'read_file', 'web_fetch', 'write_file']);
  });
});
