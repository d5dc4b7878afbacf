import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createFilePolicy } from '../../kernel/world/file-policy.ts';
import { type TrySandbox, trySandbox } from '../../testing/try-sandbox.ts';

const path = process.env['PATH'] ?? '';
const IDENTITY = 'git config --global user.email a@b.c; git config --global user.name t;';
let at: TrySandbox;

beforeEach(() => {
  at = trySandbox({ path });
});
afterEach(() => at[Symbol.asyncDispose]());

function git(...args: string[]): string {
  const env = { PATH: path, HOME: at.home, GIT_CONFIG_NOSYSTEM: '1' };
  return execFileSync('git', ['-c', 'user.email=a@b.c', '-c', 'user.name=t', ...args], {
    cwd: at.workspace,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

describe('sensitive files', () => {
  test('cannot be read by any program, in either mode, under any of their names', async () => {
    at.write('.env', 'KEY=CANARY');
    at.write('deploy/id_ed25519', 'CANARY');
    at.write('.aws/credentials', 'CANARY');
    linkSync(join(at.workspace, '.env'), join(at.workspace, 'hard-link.txt'));
    symlinkSync('.env', join(at.workspace, 'soft-link.txt'));
    at.write('plain.txt', 'CANARY');
    symlinkSync('../plain.txt', join(at.workspace, 'deploy', '.env'));
    const reads =
      'cat .env .e* deploy/* .aws/credentials *-link.txt plain.txt; grep -r CANARY .; tar cf - . ; dd if=.env; cp .env copy; mv .env moved; ln .env other; python3 -c "print(open(\\".env\\").read())"';
    for (const mounts of ['read', 'live'] as const) {
      const { stdout, stderr } = await at.sh(reads, { mounts });
      expect(stdout + stderr).not.toContain('CANARY');
    }
    expect(readFileSync(join(at.workspace, '.env'), 'utf8')).toBe('KEY=CANARY');
    expect(existsSync(join(at.workspace, 'copy')) && readFileSync(join(at.workspace, 'copy'), 'utf8')).toBeFalsy();
  });

  test('look forbidden and not empty, so that a commit does not empty them', async () => {
    git('init', '-q');
    at.write('.env', 'KEY=1');
    git('add', '-f', '.env');
    git('commit', '-qm', 'first');
    at.write('a.txt', 'a');
    const { exitCode, stderr } = await at.sh(`${IDENTITY} git add a.txt; git commit -qam second`);
    expect(stderr).toMatch(/permission denied|unable to/i);
    expect(exitCode).not.toBe(0);
    expect(git('show', 'HEAD:.env')).toBe('KEY=1');
  });

  test('an example and a public key can be read', async () => {
    at.write('.env.example', 'KEY=');
    at.write('id_rsa.pub', 'ssh-rsa');
    expect((await at.sh('cat .env.example id_rsa.pub')).stdout).toBe('KEY=ssh-rsa');
  });

  test('a file that appears between two runs is hidden in the second', async () => {
    expect((await at.sh('ls')).stdout).toBe('');
    at.write('sub/.env', 'CANARY');
    expect((await at.sh('cat sub/.env; grep -r CANARY .')).stdout).not.toContain('CANARY');
  });

  test('are refused to be more than can be hidden, with what to do', async () => {
    for (let i = 0; i <= 1_000; i++) at.write(`keys/${i}.pem`, 'CANARY');
    const request = { command: ['cat', 'keys/0.pem'], workspace: at.workspace, mounts: 'read', tag: 't' } as const;
    const result = await at.sandbox.run(request);
    expect(result).toMatchObject({ ok: false, error: { code: 'SANDBOX_UNAVAILABLE' } });
    expect(result.ok || result.error.message).toContain('Add a rule that hides their folder');
  });

  test('cannot be brought by one run to where the next one reads them', async () => {
    at.write('conf/.env', 'CANARY');
    at.write('.docker/config.json', 'CANARY');
    at.write('.devcontainer/.env', 'CANARY');
    await at.sh('mkdir -p node_modules; mv conf node_modules/conf; mv .docker d; mv conf/.env node_modules/x');
    const { stdout } = await at.sh('cat node_modules/conf/.env d/config.json .devcontainer/.env; grep -r CANARY .');
    expect(stdout).not.toContain('CANARY');
    expect(readFileSync(join(at.workspace, 'conf/.env'), 'utf8')).toBe('CANARY');
  });

  test('stay hidden when a run removes the link whose name told so', async () => {
    at.write('plain.txt', 'CANARY');
    symlinkSync('plain.txt', join(at.workspace, '.env'));
    await at.sh('rm .env');
    expect((await at.sh('cat plain.txt')).stdout).toBe('');
  });

  test('cannot be read in a hidden folder when a link with a hidden name leads there', async () => {
    at.write('.aws/credentials', 'CANARY');
    symlinkSync('.aws/credentials', join(at.workspace, '.env'));
    expect((await at.sh('cat .env .aws/credentials; echo ran')).stdout).toBe('ran\n');
  });

  test('cannot be read by a hard link in a folder that is otherwise not looked at', async () => {
    at.write('.env', 'CANARY');
    at.write('.aws/credentials', 'CANARY');
    at.write('node_modules/p/a.js', '');
    linkSync(join(at.workspace, '.env'), join(at.workspace, 'node_modules/p/env.txt'));
    linkSync(join(at.workspace, '.aws/credentials'), join(at.workspace, 'aws.txt'));
    const { stdout } = await at.sh('grep -r CANARY .; cat aws.txt node_modules/p/*');
    expect(stdout).not.toContain('CANARY');
  });

  test('cannot be read in a folder below node_modules that a link makes a folder of the workspace', async () => {
    await at.sh('mkdir -p node_modules/conf; ln -s node_modules/conf conf');
    at.write('conf/.env', 'CANARY');
    expect((await at.sh('cat conf/.env node_modules/conf/.env')).stdout).toBe('');
    await at.sh('mv node_modules/conf node_modules/c; rm conf');
    expect((await at.sh('cat node_modules/*/.env')).stdout).toBe('');
  });

  test('of packages behind a link are no secrets when the user says so, and can be removed', async () => {
    await using lifted = trySandbox({ path, filePolicy: createFilePolicy([], ['node_modules/**']) });
    lifted.write('node_modules/p/test/server.key', 'SAMPLE');
    symlinkSync('node_modules', join(lifted.workspace, 'vendor'));
    const { stdout, exitCode } = await lifted.sh('cat vendor/p/test/server.key && rm -r node_modules');
    expect({ stdout, exitCode }).toEqual({ stdout: 'SAMPLE', exitCode: 0 });
  });

  test('cannot be read in a folder that cannot be listed', async () => {
    at.write('d/.env', 'CANARY');
    at.write('listed/sub/.env', 'CANARY');
    chmodSync(join(at.workspace, 'd'), 0o311);
    chmodSync(join(at.workspace, 'listed'), 0o644);
    const { stdout } = await at.sh('chmod 755 d listed; cat d/.env listed/sub/.env');
    for (const name of ['d', 'listed']) chmodSync(join(at.workspace, name), 0o755);
    expect(stdout).not.toContain('CANARY');
  });

  test('cannot be read by a hard link in a folder below node_modules that cannot be listed', async () => {
    at.write('.env', 'CANARY');
    at.write('node_modules/p/closed/a.js', '');
    linkSync(join(at.workspace, '.env'), join(at.workspace, 'node_modules/p/closed/env.txt'));
    chmodSync(join(at.workspace, 'node_modules/p/closed'), 0o311);
    const { stdout } = await at.sh('chmod 755 node_modules/p/closed; cat node_modules/p/closed/env.txt');
    chmodSync(join(at.workspace, 'node_modules/p/closed'), 0o755);
    expect(stdout).not.toContain('CANARY');
  });

  test('a rule of the user adds to the list', async () => {
    await using own = trySandbox({ path, rules: [{ pattern: 'private/**', access: 'hidden', reason: 'mine' }] });
    own.write('private/a.txt', 'CANARY');
    expect((await own.sh('cat private/a.txt')).stdout).toBe('');
  });
});

describe('protected files', () => {
  beforeEach(() => {
    git('init', '-q');
    git('commit', '-q', '--allow-empty', '-m', 'first');
  });

  test.each([
    ['a hook written', "printf 'touch PWNED' > .git/hooks/pre-commit"],
    ['a hook by renaming .git', 'mv .git g && mkdir -p .git/hooks && echo x > .git/hooks/pre-commit'],
    ['a hook by renaming hooks', 'mv .git/hooks h; mkdir .git/hooks; echo x > .git/hooks/pre-commit'],
    ['a hook by linking', 'mkdir h; echo x > h/pre-commit; rm -rf .git/hooks; ln -s ../h .git/hooks'],
    ['a program in the configuration', 'git config core.fsmonitor ./evil.sh'],
    ['a program in a replaced configuration', 'cp .git/config c; echo "[core] fsmonitor=x" >> c; mv -f c .git/config'],
  ])('are not changed by %s', async (_what, script) => {
    const before = readFileSync(join(at.workspace, '.git/config'), 'utf8');
    const hooks = readdirSync(join(at.workspace, '.git/hooks')).sort();
    await at.sh(script);
    expect(lstatSync(join(at.workspace, '.git/hooks')).isDirectory()).toBe(true);
    expect(readdirSync(join(at.workspace, '.git/hooks')).sort()).toEqual(hooks);
    expect(readFileSync(join(at.workspace, '.git/config'), 'utf8')).toBe(before);
  });

  test('leave ordinary work with git as it is', async () => {
    const script = `${IDENTITY} echo a > a.txt && git add a.txt && git commit -qm second && git branch topic && git checkout -q topic && git gc -q && git log --oneline | wc -l`;
    const { stdout, stderr, exitCode } = await at.sh(script);
    expect([exitCode, stdout.trim(), stderr]).toEqual([0, '2', '']);
    expect(git('branch', '--show-current').trim()).toBe('topic');
  });

  test('that are missing cannot be created, and leave nothing behind', async () => {
    const { exitCode } = await at.sh('mkdir -p .toolwright && echo "{}" > .toolwright/config.json');
    expect(exitCode).not.toBe(0);
    expect(readdirSync(at.workspace)).toEqual(['.git']);
  });

  test('that are missing are not in the way of adding everything to a commit', async () => {
    const { exitCode, stdout, stderr } = await at.sh(
      `${IDENTITY} echo a > a.txt && git add -A && git commit -qm all && git status --short && git show --stat --format= --name-only`,
    );
    expect([exitCode, stdout, stderr]).toEqual([0, 'a.txt\n', '']);
  });

  test('are read-only under their other names', async () => {
    linkSync(join(at.workspace, '.git/config'), join(at.workspace, 'other'));
    await at.sh('echo "# x" >> other; mkdir n; ln other n/third; echo "# x" >> n/third');
    expect(readFileSync(join(at.workspace, '.git/config'), 'utf8')).not.toContain('# x');
  });

  test('that exist are read-only', async () => {
    at.write('.toolwright/config.json', '{}');
    at.write('.vscode/settings.json', '{}');
    const { stdout } = await at.sh(
      'echo x > .toolwright/config.json; echo x > .vscode/settings.json; mv .toolwright t; cat .toolwright/config.json',
    );
    expect(stdout).toBe('{}');
    expect(readFileSync(join(at.workspace, '.vscode/settings.json'), 'utf8')).toBe('{}');
  });
});

describe('the sweep after a live run', () => {
  test('moves planted hooks of a new repository aside and leaves its samples', async () => {
    const script =
      "git init -q nested && echo 'touch PWNED' > nested/.git/hooks/pre-commit && chmod +x nested/.git/hooks/pre-commit";
    const { quarantined } = await at.sh(script);
    expect(quarantined).toMatchObject([
      { path: 'nested/.git/hooks/pre-commit', movedTo: 'nested/.git/hooks/pre-commit.quarantined' },
    ]);
    expect(existsSync(join(at.workspace, 'nested/.git/hooks/pre-commit'))).toBe(false);
    expect(existsSync(join(at.workspace, 'nested/.git/config'))).toBe(true);
    expect((await at.sh('true')).quarantined).toEqual([]);
  });

  test.each([
    ['[core]\n\tfsmonitor = ./evil.sh\n'],
    ['[core]\n\thooksPath = h\n'],
    ['[alias]\n\tst = !touch PWNED\n'],
    ['[remote "origin"]\n\turl = ext::sh -c id\n'],
    ['[remote "origin"]\n\turl = ex"t"::sh -c id\n'],
    ['[remote "origin"]\n\tpushurl = "ext::sh -c id"\n'],
    ['[branch "main"]\n\tremote = ext::sh -c id\n'],
    ['[include]\n\tpath = ../evil\n'],
    ['[core]\n\tworktree = /tmp\n'],
    ['[core]\n\tworktree = ../../..\n'],
    ['[core]\n\tworktree = "../../s\\164"\n'],
    ['[core]\n\tworktree = ../../other\n'],
  ])('moves a configuration aside that could run a program or write elsewhere: %j', async (config) => {
    const { quarantined } = await at.sh('git init -q n && mkdir other && cat > n/.git/config', { stdin: config });
    expect(quarantined.map((each) => each.path)).toEqual(['n/.git/config']);
  });

  test('leaves an ordinary clone and an ordinary new repository alone', async () => {
    const { quarantined, stderr } = await at.sh(
      'git init -q a && git init -q --initial-branch=main . && git clone -q a b 2>/dev/null; git -C b remote -v | wc -l',
    );
    expect([quarantined, stderr]).toEqual([[], '']);
  });

  test('moves files aside that an editor or a shell would obey', async () => {
    const { quarantined } = await at.sh(
      "mkdir -p .vscode .claude; echo '{}' > .vscode/tasks.json; echo x > .claude/settings.json; echo x > .bashrc; ln -s /etc .husky; echo 'gitdir: /tmp/evil' > .git",
    );
    expect(quarantined.map((each) => each.path).sort()).toEqual([
      '.bashrc',
      '.claude',
      '.git',
      '.husky',
      '.vscode/tasks.json',
    ]);
  });

  test('moves a link aside that stands where protected files are looked for', async () => {
    const script =
      "git init -q r; mv r/.git/info r/i; ln -s ../i r/.git/info; mkdir vs pkg; echo '{}' > vs/tasks.json; ln -s ../vs pkg/.vscode; ln -s vs plain";
    const { quarantined } = await at.sh(script);
    expect(quarantined.map((each) => each.path).sort()).toEqual(['pkg/.vscode', 'r/.git/info']);
    expect(existsSync(join(at.workspace, 'plain/tasks.json'))).toBe(true);
  });

  test('leaves a link alone that the user made, and what it leads to is read-only', async () => {
    at.write('vs/tasks.json', '{}');
    symlinkSync('vs', join(at.workspace, '.vscode'));
    const { quarantined } = await at.sh('echo x > vs/tasks.json; echo x > .vscode/mcp.json');
    expect(quarantined).toEqual([]);
    expect(readdirSync(join(at.workspace, 'vs'))).toEqual(['tasks.json']);
    expect(readFileSync(join(at.workspace, 'vs/tasks.json'), 'utf8')).toBe('{}');
  });

  test('finds what was planted in a folder that cannot be listed', async () => {
    const { quarantined } = await at.sh('git init -q d && echo x > d/.git/hooks/pre-commit && chmod 311 d');
    for (const name of readdirSync(at.workspace)) chmodSync(join(at.workspace, name), 0o755);
    expect(quarantined).toHaveLength(1);
    expect(existsSync(join(at.workspace, 'd/.git/hooks/pre-commit'))).toBe(false);
  });

  test.each([
    ['the folder may not be written', "mkdir .vscode; echo '{}' > .vscode/tasks.json; chmod 555 .vscode", 1],
    ['its name is as long as a name may be', `echo '{}' > ${'x'.repeat(240)}.code-workspace`, 1],
    [
      'every name to put it aside is taken',
      "mkdir .vscode; for n in '' -2 -3 -4 -5; do echo x > .vscode/tasks.json.quarantined$n; done; echo '{}' > .vscode/tasks.json",
      1,
    ],
    [
      'it lies in a folder that looks put aside',
      'git init -q x.quarantined; echo x > x.quarantined/.git/hooks/pre-commit',
      1,
    ],
    ['it is too large to be read', 'git init -q n; head -c 3000000 /dev/zero > n/.git/config', 1],
  ])('finds what was planted when %s', async (_how, script, count) => {
    const { quarantined, notes } = await at.sh(script);
    if (existsSync(join(at.workspace, '.vscode'))) chmodSync(join(at.workspace, '.vscode'), 0o755);
    expect([quarantined.length, notes]).toEqual([count, []]);
    for (const { path: planted } of quarantined) expect(existsSync(join(at.workspace, planted))).toBe(false);
    expect(readdirSync(at.workspace).some((name) => name.endsWith('.code-workspace'))).toBe(false);
  });

  test('finds what was planted where names are no text, and runs nothing while there is such a folder', async () => {
    const script = String.raw`d=$(printf 'caf\351'); git init -q "$d" && echo x > "$d/.git/hooks/pre-commit"`;
    const { quarantined } = await at.sh(script);
    expect(quarantined.map(({ movedTo }) => movedTo)).toEqual([
      'caf\uFFFD.quarantined',
      'caf\uFFFD.quarantined/.git/hooks/pre-commit.quarantined',
    ]);
    mkdirSync(Buffer.concat([Buffer.from(join(at.workspace, 'caf')), Buffer.from([0xe9])]));
    await expect(at.sh('true')).rejects.toThrow('not valid UTF-8');
  });

  test('is not held up by what is planted in folders too deep to be named', async () => {
    const name = 'd'.repeat(200);
    const code = `import os\nfor i in range(30): os.mkdir('${name}'); os.chdir('${name}')\nopen('.env', 'w')`;
    expect((await at.sh('', { command: ['python3', '-c', code] })).exitCode).toBe(0);
    expect((await at.sh('echo runs; rm -r d*')).stdout).toBe('runs\n');
  });

  test('leaves what was there before alone', async () => {
    at.write('.vscode/tasks.json', '{}');
    writeFileSync(join(at.workspace, '.gitmodules'), '');
    expect((await at.sh('echo x > y')).quarantined).toEqual([]);
  });
});

describe('the list of changed files', () => {
  test('names what a live run created, modified and deleted', async () => {
    for (const name of ['keep.txt', 'change.txt', 'remove.txt', 'src/deep/old.ts']) at.write(name, name);
    await new Promise((resolve) => setTimeout(resolve, 30));
    const script =
      'echo more >> change.txt; rm remove.txt; mkdir -p new/dir; echo x > new/dir/file; mv src/deep/old.ts src/new.ts; cat keep.txt >/dev/null';
    const { changes } = await at.sh(script, { changes: 'report' });
    expect(changes).toEqual({
      created: ['new', 'new/dir', 'new/dir/file', 'src/new.ts'],
      modified: ['change.txt'],
      deleted: ['remove.txt', 'src/deep/old.ts'],
      complete: true,
    });
  });

  test('is not made in mode read or without being asked for', async () => {
    expect((await at.sh('true', { mounts: 'read', changes: 'report' })).changes).toBeNull();
    expect((await at.sh('true')).changes).toBeNull();
  });

  test('says when there was no time to look everywhere', async () => {
    await using hasty = trySandbox({ path, changesCapMs: 0 });
    hasty.write('a.txt', 'a');
    expect((await hasty.sh('true', { changes: 'report' })).changes).toMatchObject({ complete: false });
  });
});
