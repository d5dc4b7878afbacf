import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestServer } from './test-server.ts';

let server: TestServer;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'always-'));
  const workspaces = ['one', 'two'].map((name) => join(folder, name));
  for (const workspace of workspaces) mkdirSync(workspace);
  server = await TestServer.start({ workspaces });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

describe('"always" over HTTP', () => {
  test('shows what the rule would cover, and takes an edited one that is no wider', async () => {
    const { call, approval } = await server.ask({ command: 'npm ci && git push origin main' }, 'bash');
    const { body } = await server.get(`/v1/approvals/${approval.id}`);
    expect(body.always).toMatchObject({ rule: 'bash(npm ci)\nbash(git push origin main)' });
    expect(body.always.covers).toContain('exactly "npm ci", as a part of any command');
    expect(body.whyNoRule).toBeNull();

    const wide = await server.post(`/v1/approvals/${approval.id}/approve`, { always: 'bash(npm *)' });
    expect(wide).toMatchObject({ status: 400, body: { detail: expect.stringContaining('would also allow') } });
    const other = await server.post(`/v1/approvals/${approval.id}/approve`, { always: 'bash(curl x)' });
    expect(other.body.detail).toContain('covers nothing');
    expect((await server.get(`/v1/approvals/${approval.id}`)).body.state).toBe('pending');

    const yes = await server.post(`/v1/approvals/${approval.id}/approve`, { always: 'bash(npm ci)\n' });
    expect(yes.status).toBe(200);
    expect(await server.ended(call.id)).toMatchObject({ state: 'succeeded' });
    const saved = (await server.get('/v1/rules')).body.items.map(({ rule }: { rule: string }) => rule);
    expect(saved).toEqual(['bash(npm ci)']);
  });

  test('a rule holds in the workspace it was given in, and can be taken back', async () => {
    const explain = async (workspace: string) => {
      const { body: session } = await server.post('/v1/sessions', { workspace });
      const asked = { tool: 'bash', args: { command: 'npm ci' }, session: session.id };
      return (await server.post('/v1/explain', asked)).body.verdict;
    };
    const [own = '', other = ''] = server.host.workspaces.keys();
    const [saved] = (await server.get('/v1/rules')).body.items;
    expect(saved).toMatchObject({ rule: 'bash(npm ci)', workspace: own });
    expect([await explain(own), await explain(other)]).toEqual(['allow', 'ask']);
    expect((await server.send('DELETE', `/v1/rules/${saved.id}`)).status).toBe(204);
    expect(await explain(own)).toBe('ask');
  });

  test('says why it proposes nothing', async () => {
    const { approval } = await server.ask({ command: 'ssh host' }, 'bash');
    const { body } = await server.get(`/v1/approvals/${approval.id}`);
    expect(body).toMatchObject({ always: null, whyNoRule: expect.stringContaining('ssh can run anything') });
    const saved = await server.post(`/v1/approvals/${approval.id}/approve`, { always: 'bash(ssh host)' });
    expect(saved).toMatchObject({ status: 400, body: { detail: expect.stringContaining('ssh can run anything') } });
  });
});
