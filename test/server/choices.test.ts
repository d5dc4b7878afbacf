import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { createSessionRunner } from '../../src/app/agent/session-runner.ts';
import { modelServer } from '../../src/testing/model-server.ts';
import { TestServer } from './test-server.ts';

let server: TestServer;
afterEach(() => server[Symbol.asyncDispose]());

describe('the mode', () => {
  test('is switched by an admin for the next call, recorded with who did it, and is the configured one after a restart', async () => {
    server = await TestServer.start();
    const write = async () => (await server.post('/v1/calls', { tool: 'write_file', args: CHANGE })).body;
    const forbidden = await server.send('PUT', '/v1/mode', { mode: 'auto' }, await server.tokenFor('ana', 'approver'));
    expect(forbidden.status).toBe(403);
    expect(await server.send('PUT', '/v1/mode', { mode: 'plan' })).toMatchObject({ body: { mode: 'plan' } });
    expect(await write()).toMatchObject({ state: 'denied', outcome: { error: { code: 'PERMISSION_DENIED' } } });
    expect(await server.send('PUT', '/v1/mode', { mode: 'auto' })).toMatchObject({ status: 200 });
    expect(await write()).toMatchObject({ state: 'succeeded' });
    expect((await server.get('/v1/health')).body.mode).toBe('auto');
    const recorded = (await server.host.ledger.log(0, 100)).filter(({ type }) => type === 'mode.switched');
    expect(recorded.map(({ data }) => data)).toEqual([
      { mode: 'plan', by: 'owner' },
      { mode: 'auto', by: 'owner' },
    ]);
    await server.stop();
    await server.start();
    expect((await server.get('/v1/health')).body.mode).toBe('ask');
  });

  test('is never looser than the file of the workspace says', async () => {
    server = new TestServer();
    mkdirSync(join(server.workspace, '.toolwright'));
    writeFileSync(join(server.workspace, '.toolwright/config.json'), '{"mode": "plan"}');
    await server.start();
    // Strict lets new files be written, which plan does not.
    for (const mode of ['auto', 'ask', 'strict']) {
      expect(await server.send('PUT', '/v1/mode', { mode })).toMatchObject({
        status: 409,
        body: { detail: expect.stringContaining('keeps it in mode plan') },
      });
    }
    expect((await server.get('/v1/health')).body.mode).toBe('plan');
    const written = await server.post('/v1/calls', { tool: 'write_file', args: { path: 'new.txt', content: 'x' } });
    expect(written.body).toMatchObject({ state: 'denied' });
  });

  test('may be tighter than that of a workspace, and leaves one where it is that is neither', async () => {
    server = new TestServer();
    const strict = join(server.home, 'strict');
    for (const [folder, mode] of [
      [server.workspace, 'ask'],
      [strict, 'strict'],
    ] as const) {
      mkdirSync(join(folder, '.toolwright'), { recursive: true });
      writeFileSync(join(folder, '.toolwright/config.json'), JSON.stringify({ mode }));
    }
    server.with({ workspaces: [server.workspace, strict] });
    await server.start();
    expect(await server.send('PUT', '/v1/mode', { mode: 'plan' })).toMatchObject({ body: { mode: 'plan' } });
    expect([...server.host.apps.values()].map(({ rules }) => rules.mode())).toEqual(['plan', 'strict']);
  });
});

describe('the model', () => {
  test('is chosen by an admin, and no answer has a key', async () => {
    const env = { PATH: process.env.PATH ?? '', ANTHROPIC_API_KEY: 'top-secret', OPENAI_API_KEY: 'secret-too' };
    server = await TestServer.start({ env, runner: (parts) => createSessionRunner(parts, env) });
    const { body } = await server.get('/v1/models');
    expect(body).toEqual({
      current: { provider: 'anthropic', model: 'claude-sonnet-5-5' },
      choices: [
        { provider: 'anthropic', model: 'claude-sonnet-5-5', ready: true, keyFrom: 'environment', missing: null },
        { provider: 'openai', model: 'gpt-5.4', ready: true, keyFrom: 'environment', missing: null },
        {
          provider: 'openai-chat',
          model: null,
          ready: false,
          keyFrom: 'environment',
          missing: expect.stringContaining('modelBaseUrl'),
        },
      ],
    });
    const chosen = await server.send('PUT', '/v1/model', { provider: 'openai', model: 'gpt-x' });
    expect(chosen.body.current).toEqual({ provider: 'openai', model: 'gpt-x' });
    expect((await server.get('/v1/health')).body.model).toBe('gpt-x');
    const manual = await server.send('PUT', '/v1/model', { provider: 'manual' });
    expect(manual.body.current).toBe(null);
    expect(JSON.stringify([body, chosen, manual])).not.toMatch(/secret/);
    const recorded = (await server.host.ledger.log(0, 100)).filter(({ type }) => type === 'model.switched');
    expect(recorded.map(({ data }) => data)).toEqual([
      { provider: 'openai', model: 'gpt-x', by: 'owner' },
      { provider: 'manual', model: null, by: 'owner' },
    ]);
    const viewer = await server.tokenFor('vera', 'approver');
    expect((await server.send('PUT', '/v1/model', { provider: 'openai' }, viewer)).status).toBe(403);
  });

  test('at an address that somebody names is sent no key and no configured header', async () => {
    await using model = await modelServer(() => ({ status: 500, headers: {}, chunks: ['{}'] }));
    const env = {
      PATH: process.env.PATH ?? '',
      OPENAI_API_KEY: 'top-secret',
      TOOLWRIGHT_MODEL_HEADERS: 'x-team: blue',
    };
    server = await TestServer.start({ env, runner: (parts) => createSessionRunner(parts, env) });
    const baseUrl = model.url.replace('://', '://ana:hunter2@');
    const choice = { provider: 'openai', model: 'm', baseUrl };
    expect((await server.send('PUT', '/v1/model', choice)).body.current).toEqual({ provider: 'openai', model: 'm' });
    const recorded = (await server.host.ledger.log(0, 100)).find(({ type }) => type === 'model.switched');
    expect(recorded?.data).toMatchObject({ endpoint: new URL(model.url).href });
    expect(JSON.stringify(recorded)).not.toContain('hunter2');
    const { body: session } = await server.post('/v1/sessions');
    await server.post(`/v1/sessions/${session.id}/messages`, { text: 'Hi' });
    await expect.poll(() => model.requests.length, { timeout: 20_000 }).toBeGreaterThan(0);
    await server.post(`/v1/sessions/${session.id}/stop`);
    expect(JSON.stringify(model.requests[0]?.headers)).not.toMatch(/top-secret|blue/);
  });
});

describe('git', () => {
  test('says how files stand, and runs nothing that the repository names', async () => {
    server = await TestServer.start();
    expect((await server.get('/v1/files/git')).body).toEqual({ git: false, files: [], complete: true });
    const at = (name: string) => join(server.workspace, name);
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd: server.workspace });
    writeFileSync(at('b.txt'), 'one\n');
    writeFileSync(at('gone.txt'), 'one\n');
    writeFileSync(at('.env'), 'SECRET=1\n');
    git('init', '-q');
    git('add', '-A');
    git('commit', '-qm', 'first');
    appendFileSync(at('a.txt'), 'two\n');
    execFileSync('rm', [at('gone.txt')]);
    mkdirSync(at('fresh'));
    writeFileSync(at('fresh/x'), '');
    writeFileSync(at('staged.txt'), '');
    git('add', 'staged.txt');
    // If git ran any of these, b.txt would look changed, or nothing would come within its time.
    writeFileSync(at('.git/info/attributes'), 'b.txt filter=upper=case\n');
    git('config', 'filter.upper=case.clean', 'tr a-z A-Z');
    git('config', 'filter.upper=case.required', 'true');
    git('config', 'core.fsmonitor', 'sleep 60; :');
    utimesSync(at('b.txt'), 1, 1);
    const { body } = await server.get('/v1/files/git');
    expect(body).toEqual({
      git: true,
      complete: true,
      files: [
        { path: 'a.txt', state: 'modified' },
        { path: 'gone.txt', state: 'deleted' },
        { path: 'staged.txt', state: 'added' },
        { path: 'fresh/', state: 'untracked' },
      ],
    });
  });
});

const CHANGE = { path: 'a.txt', content: 'two\n' };
