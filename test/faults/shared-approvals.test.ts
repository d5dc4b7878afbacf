import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Host, openHost } from '../../src/app/open-host.ts';
import { startProcess, toolwright } from './server-process.ts';

let home: string;
let workspace: string;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'shared-'));
  workspace = join(home, 'project');
  await mkdir(workspace);
  for (const name of ['a', 'b', 'c']) writeFileSync(join(workspace, name), 'before');
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const content = (name: string) => readFileSync(join(workspace, name), 'utf8');

async function host(): Promise<Host> {
  const opened = await openHost({ workspaces: [workspace], env: { PATH: process.env.PATH ?? '' }, home });
  if (!opened.ok) throw new Error(opened.error.message);
  return opened.value;
}

async function pending(on: Host, count: number) {
  for (let tries = 0; tries < 1500; tries++) {
    const found = await on.ledger.approvals({ state: 'pending' });
    if (found.length >= count) return found;
    await delay(20);
  }
  throw new Error('the questions did not come');
}

function write(name: string) {
  const child = toolwright(['call', 'write_file', '--path', name, '--content', 'after', '-w', workspace], home);
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { child, ended };
}

test('approval requests of commands in their own processes are answered in another one, each with its own message', async () => {
  const answering = await host();
  const [one, two] = [write('a'), write('b')];
  const questions = await pending(answering, 2);
  const about = (name: string) => questions.find(({ args }) => (args as { path: string }).path === name)?.id ?? '';
  await answering.answers.approve(about('a'), 'ann', {});
  await answering.answers.deny(about('b'), 'ann', 'leave it');
  expect(await one.ended).toBe(0);
  expect(await two.ended).toBe(3);
  expect([content('a'), content('b')]).toEqual(['after', 'before']);
  await answering.close();
}, 120_000);

test('an approval request of a server is answered by a process that never ran one, and the result arrives there', async () => {
  const server = await startProcess(workspace, home);
  const answering = await host();
  try {
    const args = { path: 'c', content: 'after' };
    const call = server.post('/v1/calls', { tool: 'write_file', args });
    const [question] = await pending(answering, 1);
    const answered = await answering.answers.approve(question?.id ?? '', 'bob', {});
    expect(answered).toMatchObject({ kind: 'answered', approval: { state: 'approved', decidedBy: 'bob' } });
    expect((await call).body).toMatchObject({ state: 'succeeded' });
    expect(content('c')).toBe('after');
  } finally {
    await server.kill();
    await answering.close();
  }
}, 120_000);
