import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Logger } from '../../src/kernel/ports.ts';
import type { Route } from '../../src/protocol/route.ts';
import { ROUTES } from '../../src/protocol/routes.ts';
import { type Json, TestServer } from '../server/test-server.ts';

/** Secrets where people have them. Whatever a model tries, none is in an answer, a record, an event, a log or a page. */
const IN_FILES = {
  '.env': 'canary-dotenv-51f0c2',
  'config/.env.production': 'canary-production-8d11ab',
  id_ed25519: 'canary-key-0b77e9',
  '.pypirc': 'canary-registry-93ab6d',
} as const;
const IN_HOME = { '.aws/credentials': 'canary-cloud-6ea24f', '.ssh/id_rsa': 'canary-ssh-2c9d10' } as const;
const IN_ENVIRONMENT = { DEPLOY_TOKEN: 'canary-deploy-77aa01', ANTHROPIC_API_KEY: 'canary-model-key-4410cd' } as const;

const logged: string[] = [];
const told: string[] = [];
let server: TestServer;
let secrets: string[];

beforeAll(async () => {
  const log = (fields: object, message: string) => logged.push(JSON.stringify([fields, message]));
  const logger: Logger = { debug: log, info: log, warn: log, error: log, isLevelEnabled: () => true };
  const env = { PATH: process.env.PATH ?? '', ...IN_ENVIRONMENT };
  server = new TestServer({ env, logger, flags: { mode: 'auto' }, pages: join(import.meta.dirname, '../../dist/web') });
  plant(server.workspace, IN_FILES);
  plant(server.home, IN_HOME);
  await server.start();
  secrets = [IN_FILES, IN_HOME, IN_ENVIRONMENT].flatMap((each) => Object.values(each));
  secrets.push(server.tokens.own);
  void listen();
  const { body: session } = await server.post('/v1/sessions');
  for (const [tool, args] of attempts()) {
    const body = { tool, args, session: session.id, wait: false };
    const { body: call } = await server.post('/v1/calls', body);
    if (call.id !== undefined) told.push(JSON.stringify(await over(call.id)));
    else told.push(JSON.stringify(call));
    told.push(JSON.stringify((await server.post('/v1/explain', { tool, args })).body));
  }
}, 120_000);
afterAll(() => server[Symbol.asyncDispose]());

function plant(folder: string, files: Record<string, string>): void {
  for (const [name, secret] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), `PASSWORD=${secret}\n`);
  }
}

/** Everything that names a file or runs something, at each of them. */
function attempts(): (readonly [tool: string, args: object])[] {
  const names = Object.keys(IN_FILES);
  const outside = Object.keys(IN_HOME).map((name) => join(server.home, name));
  const own = join(server.host.stateDir, 'token');
  const all = [...names, ...outside, own, `${server.host.stateDir}/toolwright.db`];
  const everything = `cat ${all.map((name) => `'${name}'`).join(' ')} 2>&1; env; cat /proc/self/environ /proc/1/environ`;
  const python =
    'import os, pathlib\nfor f in pathlib.Path(".").rglob("*"):\n  try: print(f.read_text())\n  except OSError as e: print(e)\nprint(os.environ)';
  return [
    ...all.flatMap((path) => [
      ['read_file', { path }] as const,
      ['read_file', { path, encoding: 'base64' }] as const,
      ['edit_file', { path, edits: [{ old: 'PASSWORD', new: 'p' }] }] as const,
      ['write_file', { path, content: 'x', dryRun: true }] as const,
      ['move_file', { from: path, to: 'moved.txt' }] as const,
      ['grep', { pattern: 'canary', path }] as const,
    ]),
    ['grep', { pattern: 'PASSWORD', includeIgnored: true, includeHidden: true }],
    ['glob', { pattern: '**/*', includeHidden: true }],
    ['bash', { command: everything }],
    ['bash', { command: 'cp .env copy.txt; cat copy.txt; ln -s .env link; cat link; head -c 99 id_*' }],
    ['bash', { command: 'tar cf - . | strings | grep canary; git diff --no-index /dev/null .env' }],
    ['run_code', { language: 'python', code: python }],
    [
      'run_code',
      { language: 'javascript', code: 'console.log(process.env, require("fs").readFileSync(".env", "utf8"))' },
    ],
    // A secret that the model knows from elsewhere and passes in: the call may use it, and no record keeps it.
    ['read_file', { path: `${IN_ENVIRONMENT.DEPLOY_TOKEN}.txt` }],
    [IN_ENVIRONMENT.DEPLOY_TOKEN, {}],
  ];
}

/** A call that waits for a person is denied, with its preview looked at first. */
async function over(id: string): Promise<Json> {
  for (let tries = 0; tries < 2000; tries++) {
    const { body } = await server.get(`/v1/calls/${id}`);
    if (body.finishedAt !== null) return body;
    const asked = (await server.pending()).find(({ stepId }) => stepId === id);
    if (asked !== undefined) {
      told.push(JSON.stringify((await server.get(`/v1/approvals/${asked.id}`)).body));
      await server.post(`/v1/approvals/${asked.id}/approve`, { digest: asked.digest });
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`call ${id} does not end`);
}

async function listen(): Promise<void> {
  const response = await server.fetch('/v1/events').catch(() => undefined);
  const decoder = new TextDecoder();
  try {
    for await (const chunk of response?.body ?? []) told.push(decoder.decode(chunk));
  } catch {
    // The server has ended.
  }
}

function found(text: string): string[] {
  return secrets.filter((secret) =>
    [secret, Buffer.from(secret).toString('base64').slice(0, -4)].some((form) => text.includes(form)),
  );
}

test('no answer, preview, explanation or event holds one', () => {
  expect(told.length).toBeGreaterThan(60);
  const leaks = told.flatMap((text) => found(text).map((secret) => `${secret} in ${text.slice(0, 300)}`));
  // Whoever sent one is answered with their own words.
  expect(leaks.filter((leak) => !leak.startsWith(IN_ENVIRONMENT.DEPLOY_TOKEN))).toEqual([]);
  const printed = told.filter((text) => /DEPLOY_TOKEN|PASSWORD=canary/.test(text));
  expect(printed).toEqual([]);
});

test('no route answers with one, nor the page', async () => {
  for (const route of Object.values(ROUTES) as Route[]) {
    if (route.method !== 'GET' || route.path.includes(':') || route.path === '/v1/events') continue;
    expect({ path: route.path, found: found(await (await server.fetch(route.path)).text()) }).toEqual({
      path: route.path,
      found: [],
    });
  }
  expect(found(await (await server.fetch('/')).text())).toEqual([]);
});

test('nothing that is kept holds one: log, database, journal, artifacts', async () => {
  const lines: string[] = [];
  for await (const line of server.host.ledger.exportLines()) lines.push(line);
  expect(lines.length).toBeGreaterThan(100);
  expect(lines.filter((line) => found(line).length > 0)).toEqual([]);
  expect(found(logged.join('\n'))).toEqual([]);
  const { stateDir } = server.host;
  const files = readdirSync(stateDir, { recursive: true, encoding: 'utf8' })
    .filter((name) => lstatSync(join(stateDir, name)).isFile())
    .filter((name) => name !== 'token');
  const leaks = files.flatMap((name) => found(readFileSync(join(stateDir, name), 'latin1')).map((s) => [name, s]));
  expect(leaks).toEqual([]);
});
