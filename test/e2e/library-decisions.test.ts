import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  builtInTools,
  createFilePolicy,
  createPathDecisions,
  createPolicy,
  createToolwright,
  decidedPolicies,
  ExecutionContext,
  openWorkspace,
} from '../../src/index.ts';

test('a program frees a path of its own world, and takes it back, for the next call', async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'library-')));
  writeFileSync(join(root, '.env'), 'API_TOKEN=12345\n');
  const decisions = createPathDecisions();
  const named = createFilePolicy();
  const { files, commandFiles } = decidedPolicies(named, { workspace: root, decisions });
  const world = await openWorkspace({ root, policy: files, decisions });
  const policy = createPolicy({ mode: 'ask', rules: [], files, commandFiles, home: '/home/ana' });
  const { executor } = createToolwright({ tools: builtInTools, policy, world });
  const context = new ExecutionContext({ workingDir: root });
  const read = () => executor.execute('read_file', context, { path: '.env' });
  const command = async () => {
    const reviewed = await executor.review('bash', context, { command: 'cat .env' });
    return reviewed.ok && reviewed.value.verdict.verdict;
  };
  expect((await read()).error).toMatchObject({ details: { reason: 'secret', path: '.env' } });
  const made = { workspace: root, path: '.env', digest: null, by: 'ana', at: new Date().toISOString() };
  decisions.set([{ ...made, kind: 'commands' }]);
  expect((await read()).error).toMatchObject({ details: { reason: 'secret' } });
  expect(await command()).toBe('allow');
  decisions.set([{ ...made, kind: 'no-secret' }]);
  expect((await read()).text).toContain('API_TOKEN');
  decisions.set([]);
  expect((await read()).error).toMatchObject({ details: { reason: 'secret' } });
  expect(await command()).toBe('deny');
  expect(world.readForOwner('.env')).toMatchObject({ ok: true, value: { text: 'API_TOKEN=12345\n' } });
  world.close();
  rmSync(root, { recursive: true });
});
