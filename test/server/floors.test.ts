import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { MODES } from '../../src/policy/mode.ts';
import { type Json, TestServer } from './test-server.ts';

/** A server in a mode; the default one is `ask`. Its workspace has some files, a folder and a link that leads out. */
async function serverIn(mode?: string): Promise<TestServer> {
  const server = new TestServer();
  const config = join(server.home, '.config/toolwright');
  mkdirSync(config, { recursive: true });
  if (mode !== undefined) writeFileSync(join(config, 'config.json'), JSON.stringify({ mode }));
  for (const folder of ['project/src', 'project/.toolwright', 'out']) mkdirSync(join(server.home, folder));
  writeFileSync(join(server.workspace, 'b.txt'), 'b\n');
  writeFileSync(join(server.workspace, '.toolwright/x'), 'x');
  writeFileSync(join(server.home, 'out/n.txt'), 'n\n');
  symlinkSync(join(server.home, 'out'), join(server.workspace, 'link'));
  await server.start();
  return server;
}

interface Answer {
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly state: string;
  readonly value: Json;
}

/** The answer of a call; that of one which waits for a person is its state alone. */
async function call(server: TestServer, tool: string, args: Json): Promise<Answer> {
  const before = (await server.pending()).length;
  const { body } = await server.post('/v1/calls', { tool, args, wait: false });
  for (;;) {
    const { body: now } = await server.get(`/v1/calls/${body.id}`);
    const isAsked = now.state === 'awaiting_approval' && (await server.pending()).length > before;
    const { error, value } = now.result ?? now.outcome ?? {};
    if (now.finishedAt !== null || isAsked)
      return { code: error?.code, message: error?.message, state: now.state, value };
  }
}

const edits = [{ old: 'a', new: 'b' }];
const patchOf = (path: string) => `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch\n`;

/** Each file tool about one path. */
function aboutPath(path: string): [tool: string, args: Json][] {
  return [
    ['write_file', { path, content: 'x' }],
    ['read_file', { path }],
    ['edit_file', { path, edits }],
    ['delete_file', { path }],
    ['move_file', { from: path, to: 'z.txt' }],
    ['move_file', { from: 'a.txt', to: path }],
    ['list_directory', { path }],
    ['grep', { pattern: 'x', path }],
    ['glob', { pattern: '*', path }],
    ...(path === '' ? [] : ([['apply_patch', { patch: patchOf(path) }]] as [string, Json][])),
  ];
}

describe.each(MODES)('in mode %s', (mode) => {
  test('[D07] [A11] [D15] a path outside is INVALID_PATH at once, for every file tool, and nothing happens', async () => {
    await using server = await serverIn(mode);
    const outside = ['../n.txt', '/etc/x', 'link/n.txt', 'src/../n.txt', '~/x', '', 'a\0b'];
    for (const path of outside) {
      for (const [tool, args] of aboutPath(path)) {
        const { code, message } = await call(server, tool, args);
        const what = `${tool} ${JSON.stringify(args)}: ${message}`;
        expect(code, what).toBe('INVALID_PATH');
        if (path !== '' && path !== 'a\0b') expect(message, what).toContain('Access denied');
      }
    }
    expect(await server.pending()).toEqual([]);
    expect(readdirSync(join(server.home, 'out'))).toEqual(['n.txt']);
    expect(readFileSync(join(server.home, 'out/n.txt'), 'utf8')).toBe('n\n');
    expect(readdirSync(server.workspace).sort()).toEqual(['.toolwright', 'a.txt', 'b.txt', 'link', 'src']);
  });

  test('[D07] a call that cannot work fails at once with its own code', async () => {
    await using server = await serverIn(mode);
    const calls: [string, Json, string][] = [
      ['edit_file', { path: 'none.txt', edits }, 'FILE_NOT_FOUND'],
      ['edit_file', { path: 'a.txt', edits: [{ old: 'absent', new: 'b' }] }, 'INVALID_INPUT'],
      ['edit_file', { path: 'src', edits }, 'INVALID_PATH'],
      ['delete_file', { path: 'none' }, 'FILE_NOT_FOUND'],
      ['move_file', { from: 'none', to: 'y' }, 'FILE_NOT_FOUND'],
      ['move_file', { from: 'a.txt', to: 'b.txt' }, 'CONFLICT'],
      ['write_file', { path: 'src', content: 'x' }, 'INVALID_PATH'],
      ['write_file', { path: 'a.txt/b', content: 'x' }, 'INVALID_PATH'],
      ['list_directory', { path: 'a.txt' }, 'INVALID_PATH'],
      ['read_file', { path: 'none' }, 'FILE_NOT_FOUND'],
      ...aboutPath('.toolwright/x').map(([tool, args]) => [tool, args, 'PERMISSION_DENIED'] as [string, Json, string]),
    ];
    for (const [tool, args, code] of calls) {
      const answer = await call(server, tool, args);
      expect(answer.code, `${tool} ${JSON.stringify(args)}: ${answer.message}`).toBe(code);
    }
    expect(await server.pending()).toEqual([]);
  });
});

describe('in the default mode', () => {
  test('[E06] a move to a free name runs unasked, and one onto a file asks', async () => {
    await using server = await serverIn();
    expect((await call(server, 'move_file', { from: 'a.txt', to: 'sub/c.txt' })).state).toBe('succeeded');
    const free = await call(server, 'move_file', { from: 'src', to: 'lib', overwrite: true });
    expect(free).toMatchObject({ state: 'succeeded', value: { replaced: false } });
    expect(await server.pending()).toEqual([]);
    const over = await call(server, 'move_file', { from: 'b.txt', to: 'sub/c.txt', overwrite: true });
    expect(over.state).toBe('awaiting_approval');
    expect(readFileSync(join(server.workspace, 'sub/c.txt'), 'utf8')).toBe('one\n');
    expect(existsSync(join(server.workspace, 'lib'))).toBe(true);
  });

  test('[E06] a rule still asks about a move, and what is protected is asked about', async () => {
    await using server = await serverIn();
    mkdirSync(join(server.workspace, '.vscode'));
    writeFileSync(join(server.workspace, '.vscode/tasks.json'), '{}');
    for (const [from, to] of [
      ['.vscode/tasks.json', 'tasks.json'],
      ['b.txt', '.vscode/settings.json'],
    ]) {
      expect((await call(server, 'move_file', { from, to })).state, from).toBe('awaiting_approval');
    }
  });
});

test.each(MODES)(
  '[A08] in mode %s an absolute path inside the workspace is accepted, unless the mode is strict',
  async (mode) => {
    await using server = await serverIn(mode);
    const inside = (path: string) => join(server.workspace, path);
    const reads: [string, Json][] = [
      ['read_file', { path: inside('b.txt') }],
      ['list_directory', { path: server.workspace }],
      ['grep', { pattern: 'b', path: server.workspace }],
      ['glob', { pattern: '*', path: inside('src') }],
    ];
    const writes: [string, Json][] = [['write_file', { path: inside('new.txt'), content: 'x' }]];
    const runs: [string, Json][] = [
      ['bash', { command: 'ls', cwd: inside('src') }],
      ['bash', { command: `cat ${inside('b.txt')}` }],
      ['bash', { command: `cd ${server.workspace} && ls` }],
      ['bash', { command: `grep -r --include='*.txt' b '${server.workspace}//./src/..'` }],
      ['bash', { command: `head --lines=1 -- ${server.workspace}/b.txt` }],
    ];
    for (const [tool, args] of [...reads, ...runs, ...(mode === 'plan' ? [] : writes)]) {
      const { code, message } = await call(server, tool, args);
      expect(code, `${tool}: ${message}`).toBe(mode === 'strict' ? 'INVALID_PATH' : undefined);
      if (mode === 'strict') expect(message).toContain('Write the path relative to the workspace root');
    }
    expect(existsSync(inside('new.txt'))).toBe(mode === 'ask' || mode === 'auto');
    for (const command of ['ls /usr', `grep -c /${server.workspace}x b.txt || true`, 'cat b.txt 2>/dev/null'])
      expect((await call(server, 'bash', { command })).code, command).toBeUndefined();
  },
);

test('[D17] credentials, env and .env are used by no tool and no command, with nobody asked', async () => {
  await using server = await serverIn();
  const secret = 'q7Tz9bLw2Kd3Vx8P';
  for (const path of ['credentials', 'env', '.env', 'env.local'])
    writeFileSync(join(server.workspace, path), `API_TOKEN=${secret}\n`);
  for (const path of ['credentials', 'env', '.env']) {
    for (const [tool, args] of aboutPath(path)) {
      const { code, message, value } = await call(server, tool, args);
      const what = `${tool} ${JSON.stringify(args)}: ${message}`;
      const isSearch = tool === 'grep' || tool === 'glob';
      if (!isSearch || code !== undefined) expect(code, what).toBe('PERMISSION_DENIED');
      expect(JSON.stringify(value ?? ''), what).not.toContain(secret);
    }
    for (const [tool, args] of [
      ['bash', { command: `cat ${path}` }],
      ['bash', { command: `rm ${path}; mv ${path} z.txt; echo x > ${path}` }],
      ['bash', { command: 'for each in $(ls -A); do cat "$each"; done 2>&1' }],
      ['run_code', { language: 'python', code: `print(open('${path}').read())` }],
      ['run_code', { language: 'bash', code: `cp ${path} z.txt; cat z.txt; rm -f ${path}` }],
    ] as [string, Json][]) {
      const answer = await call(server, tool, args);
      expect(JSON.stringify(answer), `${tool} ${JSON.stringify(args)}`).not.toContain(secret);
    }
    expect(readFileSync(join(server.workspace, path), 'utf8'), path).toBe(`API_TOKEN=${secret}\n`);
  }
  expect(existsSync(join(server.workspace, 'z.txt'))).toBe(false);
  expect(await server.pending()).toEqual([]);
});

test.each(['env', 'credentials'])(
  '[D17] a folder of the name %s is ordinary, in tools and in commands',
  async (name) => {
    await using server = await serverIn();
    const calls: [string, Json][] = [
      ['bash', { command: `mkdir -p ${name}/bin && echo 'echo active' > ${name}/bin/activate` }],
      ['bash', { command: `. ${name}/bin/activate && ls ${name} && du -s ${name}` }],
      ['read_file', { path: `${name}/bin/activate` }],
      ['write_file', { path: `${name}/lib/a.py`, content: 'x = 1\n' }],
      ['grep', { pattern: 'active', path: name }],
      ['list_directory', { path: name }],
      ['move_file', { from: name, to: 'other' }],
      ['bash', { command: `cp -r other ${name} && rm -rf ${name} && mkdir ${name}` }],
    ];
    for (const [tool, args] of calls) {
      const { state, message } = await call(server, tool, args);
      expect(state, `${tool} ${JSON.stringify(args)}: ${message}`).toBe('succeeded');
    }
    expect(existsSync(join(server.workspace, 'other/bin/activate'))).toBe(true);
    expect(existsSync(join(server.workspace, name))).toBe(true);
  },
);

test('[D17] a file named env that holds only harmless settings is used like any file', async () => {
  await using server = await serverIn();
  writeFileSync(join(server.workspace, 'env'), 'PORT=3000\nNODE_ENV=test\n');
  const read = await call(server, 'read_file', { path: 'env' });
  expect(read.value?.content, read.message).toContain('PORT=3000');
  expect((await call(server, 'bash', { command: 'cat env' })).value?.stdout).toContain('PORT=3000');
});
