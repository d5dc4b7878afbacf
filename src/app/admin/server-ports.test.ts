import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type App, openApp } from '../open-app.ts';
import { saveRule } from './manage-rules.ts';

const home = mkdtempSync(join(tmpdir(), 'app-web-'));
const server = createServer((_request, response) => response.end('hello from inside'));
let port = 0;

beforeAll(async () => {
  mkdirSync(join(home, 'project'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.close();
  rmSync(home, { recursive: true, force: true });
});

async function fetched(flags: Record<string, string>, before: (app: App) => unknown = () => {}): Promise<string> {
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin' };
  const opened = await openApp({ workspace: join(home, 'project'), home, env, flags });
  if (!opened.ok) throw new Error(opened.error.message);
  await before(opened.value);
  const { executor, context } = opened.value;
  const result = await executor.execute('web_fetch', context, { url: `http://127.0.0.1:${port}/` });
  await opened.value.close();
  return result.ok ? (result.value as { body: string }).body : result.error.message;
}

test('the settings decide what the web tools reach', async () => {
  expect(await fetched({ allow: 'web_fetch' })).toContain('127.0.0.1 is not on the public internet');
  const listed = { privateHosts: `127.0.0.1:${port}` };
  expect(await fetched({ allow: 'web_fetch(domain:127.0.0.1)', ...listed })).toBe('hello from inside');
  expect(await fetched({ allowedHosts: `127.0.0.1:${port}`, ...listed })).toBe('hello from inside');
  expect(await fetched(listed)).toContain('not on the list of allowed hosts');
});

test('an allow rule of the configuration lists the host and the port that it names', async () => {
  expect(await fetched({ allow: `web_fetch(internal:127.0.0.1:${port})` })).toBe('hello from inside');
  expect(await fetched({ allow: `web_fetch(internal:127.0.0.1:${port + 1})` })).toContain('not on the public internet');
  // That a page may be fetched unasked does not say that its name may lead inwards.
  expect(await fetched({ allow: `web_fetch(domain:127.0.0.1:${port})` })).toContain('not on the public internet');
  expect(await fetched({ allow: `web_fetch(domain:*.0.0.1:${port})` })).toContain('not on the public internet');
  expect(await fetched({ ask: `web_fetch(domain:127.0.0.1:${port})` })).toContain('not on the public internet');
});

test('a rule that was saved while answering lists nothing', async () => {
  const save = async (app: App) => {
    await saveRule(app, { rule: `web_fetch(internal:127.0.0.1:${port})`, verdict: 'allow' }, 'somebody');
    await app.rules.reload();
  };
  expect(await fetched({}, save)).toContain('not on the public internet');
});

test('a server of this user is never reached, whoever started it', async () => {
  const flags = { allow: 'web_fetch', privateHosts: `127.0.0.1:${port},127.0.0.0/8` };
  const note = ({ loaded }: App) =>
    writeFileSync(join(loaded.stateDir, 'server.json'), JSON.stringify({ url: `http://127.0.0.1:${port}` }));
  expect(await fetched(flags)).toBe('hello from inside');
  expect(await fetched({ ...flags, port: String(port - 3) })).toContain("Toolwright's own server");
  expect(await fetched(flags, note)).toContain("Toolwright's own server");
});

test('without a search provider, a search says which variables there are', async () => {
  const workspace = join(home, 'project');
  const opened = await openApp({ workspace, home, env: { PATH: '/usr/bin:/bin' } });
  if (!opened.ok) throw new Error(opened.error.message);
  const result = await opened.value.executor.execute('web_search', opened.value.context, { query: 'x' });
  await opened.value.close();
  expect(result.error).toMatchObject({ code: 'NOT_CONFIGURED', message: expect.stringContaining('SEARXNG_URL') });
});
