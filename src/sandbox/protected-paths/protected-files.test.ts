import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, linkSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
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
    for (const mounts of ['read', 'staged'] as const) {
      const { stdout, stderr, staged } = await at.sh(reads, { mounts });
      expect(stdout + stderr).not.toContain('CANARY');
      const copy = join(staged?.content ?? '', 'copy');
      expect(existsSync(copy) && readFileSync(copy, 'utf8')).toBeFalsy();
    }
    expect(readFileSync(join(at.workspace, '.env'), 'utf8')).toBe('KEY=CANARY');
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

  test('without overlays may not be more than can be hidden one by one, with what to do', async () => {
    await using copying = trySandbox({ path, stages: 'copy' });
    for (let i = 0; i <= 1_000; i++) copying.write(`keys/${i}.pem`, 'CANARY');
    const workspace = copying.workspace;
    const result = await copying.sandbox.run({ command: ['cat', 'keys/0.pem'], workspace, mounts: 'read', tag: 't' });
    expect(result).toMatchObject({ ok: false, error: { code: 'SANDBOX_UNAVAILABLE' } });
    expect(result.ok || result.error.message).toContain('Add a rule that hides their folder');
  });

  test('cannot be brought by one run to where the next one of the same stage reads them', async () => {
    at.write('conf/.env', 'CANARY');
    at.write('.docker/config.json', 'CANARY');
    at.write('.devcontainer/.env', 'CANARY');
    const stage = { folder: await at.stage() };
    const move = 'mkdir -p node_modules; mv conf node_modules/conf; mv .docker d; mv .devcontainer/.env node_modules/x';
    await at.sh(move, { stage });
    const reads = 'cat node_modules/conf/.env d/config.json node_modules/x .devcontainer/.env; grep -r CANARY .';
    expect((await at.sh(reads, { stage })).stdout).not.toContain('CANARY');
    expect(readFileSync(join(at.workspace, 'conf/.env'), 'utf8')).toBe('CANARY');
  });

  test('stay hidden when a run removes the link whose name told so', async () => {
    at.write('plain.txt', 'CANARY');
    symlinkSync('plain.txt', join(at.workspace, '.env'));
    const stage = { folder: await at.stage() };
    await at.sh('rm .env', { stage });
    expect((await at.sh('cat plain.txt', { stage })).stdout).toBe('');
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
    at.write('node_modules/conf/.env', 'CANARY');
    symlinkSync('node_modules/conf', join(at.workspace, 'conf'));
    expect((await at.sh('cat conf/.env node_modules/conf/.env')).stdout).toBe('');
    const stage = { folder: await at.stage() };
    await at.sh('mv node_modules/conf node_modules/c; rm conf', { stage });
    expect((await at.sh('cat node_modules/*/.env', { stage })).stdout).toBe('');
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

test('nothing runs while there is a folder whose name is no text', async () => {
  mkdirSync(Buffer.concat([Buffer.from(join(at.workspace, 'caf')), Buffer.from([0xe9])]));
  await expect(at.sh('true')).rejects.toThrow('not valid UTF-8');
});

describe('files that the host obeys', () => {
  beforeEach(() => {
    git('init', '-q');
    git('commit', '-q', '--allow-empty', '-m', 'first');
  });

  test.each([
    ['a hook written', "printf 'touch PWNED' > .git/hooks/pre-commit", 'created .git/hooks/pre-commit'],
    ['a hook by renaming .git', 'mv .git g && mkdir -p .git/hooks && echo x > .git/hooks/pre-commit', 'created g'],
    ['a hook by linking', 'mkdir h; rm -rf .git/hooks; ln -s ../h .git/hooks', 'deleted .git/hooks'],
    ['a program in the configuration', 'git config core.fsmonitor ./evil.sh', 'modified .git/config'],
    ['an editor task', 'mkdir .vscode; echo {} > .vscode/tasks.json', 'created .vscode/tasks.json'],
    [
      'settings of Toolwright',
      'mkdir .toolwright; echo {} > .toolwright/config.json',
      'created .toolwright/config.json',
    ],
  ])('are not changed by %s, which is in the list of changes', async (_what, script, change) => {
    const before = readFileSync(join(at.workspace, '.git/config'), 'utf8');
    const hooks = readdirSync(join(at.workspace, '.git/hooks')).sort();
    const { staged } = await at.sh(script);
    expect(staged?.changes.map(({ kind, path: changed }) => `${kind} ${changed}`)).toContain(change);
    expect(lstatSync(join(at.workspace, '.git/hooks')).isDirectory()).toBe(true);
    expect(readdirSync(join(at.workspace, '.git/hooks')).sort()).toEqual(hooks);
    expect(readFileSync(join(at.workspace, '.git/config'), 'utf8')).toBe(before);
    expect(readdirSync(at.workspace)).toEqual(['.git']);
  });

  test('leave ordinary work with git as it is', async () => {
    const script = `${IDENTITY} echo a > a.txt && git add -A && git commit -qm second && git branch topic && git checkout -q topic && git gc -q && git log --oneline | wc -l`;
    const { stdout, stderr, exitCode } = await at.sh(script);
    expect([exitCode, stdout.trim(), stderr]).toEqual([0, '2', '']);
    expect(git('log', '--oneline').trim().split('\n')).toHaveLength(1);
  });

  test('are not changed under their other names', async () => {
    linkSync(join(at.workspace, '.git/config'), join(at.workspace, 'other'));
    await at.sh('echo "# x" >> other; mkdir n; ln other n/third; echo "# x" >> n/third');
    expect(readFileSync(join(at.workspace, '.git/config'), 'utf8')).not.toContain('# x');
  });
});
