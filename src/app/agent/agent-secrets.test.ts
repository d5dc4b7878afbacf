import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Message } from '../../kernel/call/message.ts';
import { type ScriptedTurn, scriptedModel } from '../../models/scripted.ts';
import { type App, openApp } from '../open-app.ts';
import { openAgent } from './open-agent.ts';

const TOKEN = `ghp_${'a1B2'.repeat(9)}`;

let home: string;
let workspace: string;
let app: App;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'agent-'));
  workspace = mkdtempSync(join(home, 'project-'));
  const opened = await openApp({ workspace, home, env: { PATH: '/usr/bin:/bin' } });
  if (!opened.ok) throw new Error(opened.error.message);
  app = opened.value;
});
afterEach(async () => {
  await app.close();
  rmSync(home, { recursive: true });
});

const PASSWORD = 'hunter2-by-name-alone';

const TURNS: readonly ScriptedTurn[] = [
  { calls: [{ name: 'write_file', args: { path: `new/${TOKEN}`, content: 'x' } }] },
  { calls: [{ name: 'list_directory', args: { path: 'new' } }] },
  { text: 'done' },
];

test('what a model writes runs as it was written, and the model reads what is; the record hides it', async () => {
  const heard: (readonly Message[])[] = [];
  const inner = scriptedModel(TURNS);
  const model: typeof inner = {
    ...inner,
    turn: (request, ...more) => {
      heard.push([...request.messages]);
      return inner.turn(request, ...more);
    },
  };
  expect(await openAgent(app, model).run('s1', 'go')).toMatchObject({ value: { reason: 'done' } });
  expect(readdirSync(join(workspace, 'new'))).toEqual([TOKEN]);
  expect(JSON.stringify(heard.at(-1)?.at(-1))).toContain(TOKEN);
  const lines: string[] = [];
  for await (const line of app.store.exportLines()) lines.push(line);
  expect(lines.join('\n')).not.toContain(TOKEN);
});

test('what stands under the name of a secret is not in the record of the turn that wrote it either', async () => {
  const calls = [{ name: 'no_such_tool', args: { user: 'bob', login: { password: PASSWORD } } }];
  await openAgent(app, scriptedModel([{ calls }, { text: 'done' }])).run('s1', 'go');
  const events = await app.store.events('s1');
  const turn = events.find((event) => event.type === 'message.added' && event.data.turn !== undefined);
  expect(JSON.stringify(turn)).toContain('"user":"bob"');
  expect(JSON.stringify(events)).not.toContain(PASSWORD);
});

test.each([
  { cut: 'message.added', left: [], told: 'held a secret' },
  { cut: 'results.added', left: ['new'], told: 'Created' },
])(
  'a turn that is cut off at $cut and taken up from the record never runs the words that hide others',
  async (when) => {
    const { append } = app.store;
    app.store.append = async (session, events) => {
      const [first] = events;
      const isTurn = first?.type === 'message.added' && first.data.turn !== undefined;
      if (first?.type === when.cut && first.type === 'results.added') throw new Error('cut off before');
      const stored = await append(session, events);
      if (first?.type === when.cut && isTurn) throw new Error('cut off after');
      return stored;
    };
    await openAgent(app, scriptedModel(TURNS)).run('s1', 'go');
    app.store.append = append;
    const resumed = await openAgent(app, scriptedModel([...TURNS.slice(0, 1), { text: 'Goes on.' }])).resume('s1');
    expect(resumed).toMatchObject({ value: { text: 'Goes on.' } });
    expect(readdirSync(workspace)).toEqual(when.left);
    if (when.left.length > 0) expect(readdirSync(join(workspace, 'new'))).toEqual([TOKEN]);
    const answered = (await app.store.events('s1')).find(({ type }) => type === 'results.added');
    expect(JSON.stringify(answered?.data)).toContain(when.told);
  },
);
