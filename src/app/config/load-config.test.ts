import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { type ConfigSources, loadConfig } from './load-config.ts';
import { fileSchema, type PartialConfig, SETTING_NAMES, SETTINGS, type SettingName, variableOf } from './settings.ts';

const root = join(import.meta.dirname, '../../..');

let home: string;
let workspace: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'config-'));
  workspace = join(home, 'project');
});
afterEach(() => rmSync(home, { recursive: true }));

function write(path: string, content: unknown): void {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
}
const userFile = (content: unknown) => write(join(home, '.config/toolwright/config.json'), content);
const workspaceFile = (content: unknown) => write(join(workspace, '.toolwright/config.json'), content);

const load = (more: Partial<ConfigSources> = {}) => loadConfig({ env: {}, home, workspace, ...more });

async function config(more: Partial<ConfigSources> = {}) {
  const loaded = await load(more);
  if (!loaded.ok) throw new Error(loaded.error.message);
  return loaded.value;
}

async function problems(more: Partial<ConfigSources> = {}): Promise<string> {
  const loaded = await load(more);
  return loaded.ok ? 'none' : loaded.error.message;
}

describe('a file of the user that others can write', () => {
  const file = () => join(home, '.config/toolwright/config.json');
  const folder = () => join(home, '.config/toolwright');

  test.each([
    ['by all', 0o666, file],
    ['in a folder that all can write', 0o777, folder],
  ])('is refused with the repair: %s', async (_what, mode, path) => {
    userFile({ allow: ['bash'] });
    expect(await problems()).toBe('none');
    chmodSync(path(), mode);
    const refused = await problems();
    expect(refused).toContain(`${path()} can be written by other users`);
    const repair = /run: (chmod .+)$/.exec(refused)?.[1] ?? '';
    execFileSync('/bin/sh', ['-c', repair]);
    expect((await config()).config.allow).toEqual(['bash']);
  });

  test("is accepted where only the user's own group may write", async () => {
    userFile({ allow: ['bash'] });
    chmodSync(file(), 0o664);
    chownSync(file(), process.getuid?.() ?? 0, process.getgid?.() ?? 0);
    expect(await problems()).toBe('none');
  });

  test('is refused where another group may', async () => {
    userFile({ allow: ['bash'] });
    chmodSync(file(), 0o664);
    const own = vi.spyOn(process as { getgid(): number }, 'getgid').mockReturnValue(12_345);
    expect(await problems()).toContain('chmod go-w');
    own.mockRestore();
  });
});

describe('where a setting comes from', () => {
  test('without anything, every setting has its default', async () => {
    const { config: values, sources, stateDir, storePlace } = await config();
    expect(values).toEqual(Object.fromEntries(SETTING_NAMES.map((name) => [name, SETTINGS[name].fallback])));
    expect(new Set(Object.values(sources))).toEqual(new Set(['default']));
    expect(stateDir).toBe(join(home, '.local/state/toolwright'));
    expect(storePlace).toEqual({ directory: stateDir });
  });

  test('a flag goes before the environment, that before the file, that before the default', async () => {
    userFile({ commandTimeout: 30, outputLimit: 3000, port: 3000 });
    const env = { TOOLWRIGHT_OUTPUT_LIMIT: '4000', TOOLWRIGHT_PORT: '4000' };
    const { config: values, sources } = await config({ env, flags: { port: '5000' } });
    expect([values.commandTimeout, values.outputLimit, values.port, values.mode]).toEqual([30, 4000, 5000, 'ask']);
    expect([sources.commandTimeout, sources.outputLimit, sources.port, sources.mode]).toEqual([
      'user file',
      'environment',
      'flag',
      'default',
    ]);
  });

  test('the XDG folders are used when they are absolute', async () => {
    write(join(home, 'elsewhere/toolwright/config.json'), { port: 1 });
    const env = { XDG_CONFIG_HOME: join(home, 'elsewhere'), XDG_STATE_HOME: join(home, 'states') };
    expect(await config({ env })).toMatchObject({ config: { port: 1 }, stateDir: join(home, 'states/toolwright') });
    expect((await config({ env: { XDG_CONFIG_HOME: 'relative' } })).config.port).toBe(8665);
  });

  test('texts become numbers, lists and null where the setting is one', async () => {
    const env = {
      TOOLWRIGHT_DENY: 'bash(rm *), web_fetch',
      TOOLWRIGHT_ASK: '["bash(git commit, push)"]',
      TOOLWRIGHT_APPROVAL_TIMEOUT: 'null',
      TOOLWRIGHT_TOOLSET: '7',
      TOOLWRIGHT_PORT: '',
    };
    const { config: values } = await config({ env });
    expect(values).toMatchObject({
      deny: ['bash(rm *)', 'web_fetch'],
      ask: ['bash(git commit, push)'],
      approvalTimeout: null,
      toolset: '7',
      port: 8665,
    });
  });

  test('DATABASE_URL is understood, and ours goes before it', async () => {
    const env = { DATABASE_URL: 'postgres://a/b' };
    expect(await config({ env })).toMatchObject({
      config: { databaseUrl: 'postgres://a/b' },
      storePlace: { databaseUrl: 'postgres://a/b' },
    });
    const both = { ...env, TOOLWRIGHT_DATABASE_URL: 'postgresql://c/d' };
    expect((await config({ env: both })).config.databaseUrl).toBe('postgresql://c/d');
  });

  test.each([null, 'postgres://mine/db'])("DATABASE_URL gives way to %j in the user's file", async (databaseUrl) => {
    userFile({ databaseUrl });
    const loaded = await config({ env: { DATABASE_URL: 'postgres://platform/db' } });
    expect(loaded.config.databaseUrl).toBe(databaseUrl);
    expect(loaded.sources.databaseUrl).toBe('user file');
  });

  test("TOOLWRIGHT_DATABASE_URL and the flag go before the user's null", async () => {
    userFile({ databaseUrl: null });
    const env = { TOOLWRIGHT_DATABASE_URL: 'postgres://ours/db' };
    expect((await config({ env })).config.databaseUrl).toBe('postgres://ours/db');
    expect((await config({ flags: { databaseUrl: 'postgres://flag/db' } })).config.databaseUrl).toBe(
      'postgres://flag/db',
    );
  });

  test("another program's DATABASE_URL does no harm where the user chose", async () => {
    const env = { DATABASE_URL: 'mysql://other/db', TOOLWRIGHT_DATABASE_URL: 'null' };
    expect((await config({ env })).config.databaseUrl).toBeNull();
  });

  test('a comma inside a rule does not tear it apart', async () => {
    const env = { TOOLWRIGHT_DENY: 'bash(git commit, push), web_fetch,bash(rm *)' };
    expect((await config({ env })).config.deny).toEqual(['bash(git commit, push)', 'web_fetch', 'bash(rm *)']);
  });

  test('what a sandboxed command is marked with is no choice of a sandbox', async () => {
    userFile({ sandbox: 'bubblewrap' });
    const env = { TOOLWRIGHT_SANDBOX: 'none' };
    expect((await config({ env })).config.sandbox).toBe('none');
    expect((await config({ env: { ...env, TOOLWRIGHT_CALL: 'call-1' } })).config.sandbox).toBe('bubblewrap');
  });

  test('a flag may be named as it is typed', async () => {
    expect((await config({ flags: { 'command-timeout': '7', outputLimit: '2000' } })).config).toMatchObject({
      commandTimeout: 7,
      outputLimit: 2000,
    });
  });
});

describe('what is refused', () => {
  test('a setting that does not exist, with the one that was meant', async () => {
    userFile({ comandTimeout: 30 });
    expect(await problems()).toContain("there is no setting 'comandTimeout'. Did you mean 'commandTimeout'?");
    userFile({ zzz: 30 });
    expect(await problems()).toContain('There are: mode, allow,');
    userFile({ constructor: 1 });
    expect(await problems()).toContain("no setting 'constructor'");
  });

  test('a variable that does not exist, with the one that was meant', async () => {
    const unknown = (name: string) => problems({ env: { [name]: 's3cret' } });
    expect(await unknown('TOOLWRIGHT_COMAND_TIMEOUT')).toBe(
      'There is no variable TOOLWRIGHT_COMAND_TIMEOUT. Did you mean TOOLWRIGHT_COMMAND_TIMEOUT?',
    );
    expect(await unknown('TOOLWRIGHT_ZZZZZZ')).toMatch(/^There is no variable .* There are: TOOLWRIGHT_MODE, .*PORT/);
    expect(await unknown('TOOLWRIGHT_ZZZZZZ')).not.toContain('s3cret');
    expect(await problems({ env: { TOOLWRIGHT_ZZZZZZ: '', TOOLWRIGHT_CALL: 'call-1', OTHER: '1' } })).toBe('none');
  });

  test.each(['comand-timeout', 'comandTimeout'])('a flag that does not exist, such as %s', async (name) => {
    expect(await problems({ flags: { [name]: '7' } })).toBe(
      'There is no flag --comand-timeout. Did you mean --command-timeout?',
    );
    expect(await problems({ flags: { constructor: '7' } })).toContain('There is no flag --constructor.');
  });

  test('everything that is wrong is said at once, with where it stands', async () => {
    userFile({ port: 'high', mode: 'fast' });
    const text = await problems({ env: { TOOLWRIGHT_COMMAND_TIMEOUT: '700' }, flags: { logLevel: 'loud' } });
    for (const part of ['config.json: port', 'config.json: mode', 'TOOLWRIGHT_COMMAND_TIMEOUT: ', '--log-level: ']) {
      expect(text).toContain(part);
    }
  });

  test.each([
    'mysql://app:hunter2@db/x',
    'mysql://app:p@hunter2@db/x',
    'mysql://app:a/hunter2@db/x',
    'mysql://app:a hunter2@db/x',
    'mysql://app:hunter2',
    'app:hunter2',
  ])('a database that is no PostgreSQL, naming where it was read and not its password: %s', async (url) => {
    const fromPlatform = await problems({ env: { DATABASE_URL: url } });
    expect(fromPlatform).toMatch(
      /^DATABASE_URL: databaseUrl .* must start with postgres:.*TOOLWRIGHT_DATABASE_URL=null/,
    );
    const ours = await problems({ env: { TOOLWRIGHT_DATABASE_URL: url } });
    expect(ours).toMatch(/^TOOLWRIGHT_DATABASE_URL: databaseUrl/);
    const typed = await problems({ flags: { databaseUrl: url } });
    expect(typed).toMatch(/^--database-url: databaseUrl/);
    userFile({ databaseUrl: url });
    for (const text of [fromPlatform, ours, typed, await problems()]) expect(text).not.toContain('hunter2');
  });

  test('a password in the wrong place, without showing it', async () => {
    const url = 'postgres://app:p@hunter2@db/x';
    userFile({ port: url, mode: `${'long '.repeat(20)}${url}`, [url]: 1, ask: { [url]: 1 }, allow: [url, 5] });
    workspaceFile({ allowedHosts: [url] });
    const loaded = await load({ env: { TOOLWRIGHT_LOG_LEVEL: url }, flags: { [url]: '1', port: 'password=hunter2' } });
    expect(loaded).toMatchObject({ ok: false, error: { code: 'INVALID_INPUT' } });
    expect(JSON.stringify(loaded)).not.toContain('hunter2');
  });

  test.each([
    ['~', homedir()],
    ['~/state', join(homedir(), 'state')],
    ['~ana/state', '/var/lib/toolwright'],
    ['state', '/var/lib/toolwright'],
    ['./state', '/var/lib/toolwright'],
    ['', '/var/lib/toolwright'],
  ])('%j as the state directory, with what to write instead', async (stateDir, instead) => {
    userFile({ stateDir });
    const text = await problems(
      stateDir === '' ? {} : { env: { TOOLWRIGHT_STATE_DIR: stateDir }, flags: { stateDir } },
    );
    for (const line of text.split('\n')) {
      expect(line).toContain(`stateDir cannot be ${JSON.stringify(stateDir)}: it must be an absolute path`);
      expect(line).toContain(` ${instead}, or null`);
    }
    expect((await config({ home: join(home, 'other'), flags: { stateDir: '/srv/state' } })).stateDir).toBe(
      '/srv/state',
    );
  });

  test("a workspace's names and values, without what a terminal would obey", async () => {
    const trick = 'a\u001b[2J\nAll is well\u009b\u202e';
    workspaceFile({ [trick]: 1, allowedHosts: [trick], mode: trick });
    const text = await problems();
    expect(text.split('\n')).toHaveLength(3);
    for (const unseen of ['\u001b', '\u009b', '\u202e']) expect(text).not.toContain(unseen);
    expect(text).toContain("no setting 'a\\u001b[2J\\u000aAll is well\\u009b\\u202e'");
  });

  test('a value is not shown without end', async () => {
    userFile({ port: '://x'.repeat(200_000) });
    expect((await problems()).length).toBeLessThan(500);
  });

  test.each(['{ "port": 1,, }', '[]', '"ask"', 'null'])('a file that holds %s', async (content) => {
    userFile(content);
    expect(await problems()).toMatch(/config\.json (is not JSON|must hold an object)/);
  });

  test('a file that is not JSON, with the place and without a word of it', async () => {
    userFile('{\n  "port": 1\n  "databaseUrl": "postgres://a:hunter2@db"\n}');
    expect(await problems()).toContain('config.json is not JSON (line 3, column 3).');
    for (const content of [
      'hunter2',
      '{ "port": hunter2 }',
      '"hunter2',
      '{ "hunter2": 1,, }',
      'hunter2 at position 77',
    ]) {
      userFile(content);
      workspaceFile(content);
      expect(await problems()).toMatch(/is not JSON/);
      expect(await problems()).not.toMatch(/hunter2|77/);
    }
  });

  test("a workspace's link, whatever it leads to", async () => {
    write(join(home, 'secrets/config.json'), { hunter2: 1 });
    mkdirSync(join(workspace, '.toolwright'), { recursive: true });
    symlinkSync(join(home, 'secrets/config.json'), join(workspace, '.toolwright/config.json'));
    const linkedFile = await problems();
    rmSync(join(workspace, '.toolwright'), { recursive: true });
    symlinkSync(join(home, 'secrets'), join(workspace, '.toolwright'));
    for (const text of [linkedFile, await problems()]) {
      expect(text).toContain('is a symlink. A workspace');
      expect(text).not.toContain('hunter2');
    }
  });

  test("but the user's own file may be a link, and the workspace may be reached by one", async () => {
    write(join(home, 'dotfiles/config.json'), { port: 1 });
    mkdirSync(join(home, '.config/toolwright'), { recursive: true });
    symlinkSync(join(home, 'dotfiles/config.json'), join(home, '.config/toolwright/config.json'));
    workspaceFile({ mode: 'plan' });
    symlinkSync(workspace, join(home, 'link'));
    expect((await config({ workspace: join(home, 'link') })).config).toMatchObject({ port: 1, mode: 'plan' });
  });

  test('what is no plain file, without waiting for it', async () => {
    const path = join(workspace, '.toolwright/config.json');
    mkdirSync(join(path, '..'), { recursive: true });
    execFileSync('mkfifo', [path]);
    expect(await problems()).toContain('not a regular file');
  });

  test('a type is never guessed in a file', async () => {
    userFile({ port: '8665' });
    expect(await problems()).toContain('port cannot be "8665"');
  });

  test('$schema is welcome, and the schema that is shipped knows every setting', async () => {
    userFile({ $schema: 'https://example.org/config.schema.json', port: 1 });
    expect((await config()).config.port).toBe(1);
    const json = JSON.parse(readFileSync(join(root, 'docs/config.schema.json'), 'utf8'));
    expect(json).toEqual(z.toJSONSchema(fileSchema));
    expect(Object.keys(json.properties)).toEqual(['$schema', ...SETTING_NAMES]);
    expect(json).toMatchObject({ additionalProperties: false, properties: { port: { default: 8665 } } });
    expect(json.required).toBeUndefined();
    expect(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).files).toContain('docs/config.schema.json');
  });

  test.each([5, null, {}])('$schema as %j', async ($schema) => {
    userFile({ $schema });
    expect(await problems()).toContain('config.json: $schema must be a text, such as "./node_modules/');
  });
});

/** For each setting: what the user has, a workspace's tighter value with its outcome, and looser ones. */
const CASES: Record<SettingName, { users: unknown; tighter?: [unknown, unknown]; looser: unknown[] }> = {
  mode: { users: 'ask', tighter: ['plan', 'plan'], looser: ['auto'] },
  allow: { users: [], looser: [['bash(*)'], []] },
  ask: { users: ['bash(git *)'], tighter: [['web_fetch'], ['bash(git *)', 'web_fetch']], looser: [] },
  deny: { users: ['bash(rm *)'], tighter: [[], ['bash(rm *)']], looser: [] },
  sensitiveFiles: { users: ['a', '!.env'], tighter: [['b'], ['a', '!.env', 'b']], looser: [['!.env'], ['b', '!*']] },
  disabledTools: { users: ['bash'], tighter: [['grep'], ['bash', 'grep']], looser: [] },
  toolset: { users: 'full', looser: ['standard', 'full'] },
  sandbox: { users: 'auto', tighter: ['bubblewrap', 'bubblewrap'], looser: ['none'] },
  allowedHosts: { users: ['a.org', 'b.org'], tighter: [['a.org'], ['a.org']], looser: [['c.org'], ['a.org', 'c.org']] },
  privateHosts: {
    users: ['a.org', '10.0.0.0/8'],
    tighter: [['a.org'], ['a.org']],
    looser: [['10.0.0.0/9'], ['b.org']],
  },
  dataFlow: { users: 'off', looser: ['ask', 'off'] },
  commandTimeout: { users: 100, tighter: [50, 50], looser: [101] },
  outputLimit: { users: 5000, tighter: [4000, 4000], looser: [6000] },
  approvalTimeout: { users: 60, tighter: [30, 30], looser: [61, null] },
  mcpApprovals: { users: 'inbox', looser: ['any', 'inbox'] },
  mcpServers: { users: {}, looser: [] },
  stateDir: { users: '/a', looser: ['/b', null] },
  databaseUrl: { users: null, looser: ['postgres://evil/db'] },
  retentionDays: { users: null, looser: [1] },
  retentionMegabytes: { users: 100, looser: [1, null] },
  port: { users: 1, looser: [2] },
  provider: { users: 'auto', looser: ['openai-chat', 'auto'] },
  model: { users: 'a', looser: ['b', null] },
  modelBaseUrl: { users: null, looser: ['http://127.0.0.1:9/'] },
  modelKeyVariable: { users: null, looser: ['HOME'] },
  modelHeaders: { users: [], looser: [['x-evil: 1']] },
  modelOptions: { users: {}, looser: [{ system: 'evil' }] },
  modelWindow: { users: 100_000, tighter: [50_000, 50_000], looser: [200_000] },
  modelMaxTokens: { users: 1000, tighter: [500, 500], looser: [2000] },
  modelPrice: { users: null, looser: [{ input: 0, output: 0 }] },
  maxTurns: { users: 50, tighter: [10, 10], looser: [51] },
  maxTokens: { users: 5000, tighter: [4000, 4000], looser: [6000, null] },
  maxCost: { users: 5, tighter: [4, 4], looser: [6, null] },
  maxMinutes: { users: null, tighter: [4, 4], looser: [] },
  host: { users: '127.0.0.1', looser: ['0.0.0.0'] },
  publicUrl: { users: null, looser: ['https://evil.example'] },
  tlsCert: { users: null, looser: ['/tmp/cert.pem'] },
  tlsKey: { users: null, looser: ['/tmp/key.pem'] },
  streamsPerToken: { users: 10, looser: [11] },
  logLevel: { users: 'warn', looser: ['silent', 'debug'] },
};

describe('a workspace can only tighten', () => {
  test.each(SETTING_NAMES)('%s', async (name) => {
    const { users, tighter, looser } = CASES[name];
    userFile({ [name]: users });
    if (tighter !== undefined) {
      const [given, expected] = tighter;
      workspaceFile({ [name]: given });
      const loaded = await config();
      expect(loaded.config[name]).toEqual(expected);
      expect(loaded.sources[name]).toBe('workspace file');
    }
    for (const value of looser) {
      workspaceFile({ [name]: value });
      expect(await problems(), JSON.stringify(value)).toContain(
        `a workspace can only tighten, and ${name} would not be`,
      );
    }
  });

  test('it is held against what the user chose last, not against the file', async () => {
    userFile({ mode: 'auto' });
    workspaceFile({ mode: 'ask' });
    expect((await config()).config.mode).toBe('ask');
    expect(await problems({ flags: { mode: 'plan' } })).toContain(
      'the user chose plan, and from there it stays as it is',
    );
  });

  test('no limit may be given one, and one may not be lifted', async () => {
    workspaceFile({ approvalTimeout: 10 });
    expect((await config()).config.approvalTimeout).toBe(10);
  });

  test('an MCP server is only proposed: the user has to add it', async () => {
    userFile({ mcpServers: { mine: { command: 'mine' } } });
    workspaceFile({ mcpServers: { theirs: { command: 'sh', args: ['-c', 'evil'] } } });
    const { config: found, sources, proposedServers } = await config();
    expect(found.mcpServers).toEqual({ mine: { command: 'mine' } });
    expect(sources.mcpServers).toBe('user file');
    expect(proposedServers).toEqual({ theirs: { command: 'sh', args: ['-c', 'evil'] } });
  });

  test('its unknown settings are refused too', async () => {
    workspaceFile({ permissions: 'all' } as PartialConfig);
    expect(await problems()).toContain("there is no setting 'permissions'");
  });
});

test('the names in the environment follow from the names here', () => {
  expect(variableOf('commandTimeout')).toBe('TOOLWRIGHT_COMMAND_TIMEOUT');
  expect(variableOf('port')).toBe('TOOLWRIGHT_PORT');
});

test('the documentation has a line for every setting', () => {
  const page = readFileSync(join(root, 'docs/configuration.md'), 'utf8');
  for (const name of SETTING_NAMES) expect(page).toContain(`\n| \`${name}\` `);
});
