import { execFileSync } from 'node:child_process';
import {
  accessSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFilePolicy } from '../../src/kernel/world/file-policy.ts';
import { NON_INTERACTIVE } from '../../src/processes/create-processes.ts';
import { createBubblewrap } from '../../src/sandbox/bubblewrap/bubblewrap.ts';
import { ran } from '../../src/testing/try-sandbox.ts';
import { parseTrace, type Touched } from './parse-trace.ts';

/** The real sandbox in its read mode, with strace around it: what a command really ran and touched. */
export interface TracedSandbox extends AsyncDisposable {
  readonly root: string;
  readonly home: string;
  /** Runs each of the commands, one after the other in one sandbox, and tells of each what it touched. */
  trace(commands: readonly string[]): Promise<Touched[][]>;
}

const CALLS = [
  ...[
    'execve',
    'execveat',
    'open',
    'openat',
    'openat2',
    'creat',
    'unlink',
    'unlinkat',
    'rename',
    'renameat',
    'renameat2',
  ],
  ...['mkdir', 'mkdirat', 'rmdir', 'link', 'linkat', 'symlink', 'symlinkat', 'chmod', 'fchmodat', 'truncate', 'mknod'],
  ...['mknodat', 'utimensat', 'connect', 'chown', 'lchown', 'fchownat', 'setxattr'],
];

/** Opened by whoever starts a command, so that the trace tells where it begins. */
const MARKER = '/marker';

export async function openTracedSandbox(path: string): Promise<TracedSandbox> {
  const top = realpathSync(mkdtempSync(join(place(), 'toolwright-differential-')));
  const [root, home, stateDir] = ['ws', 'home', 'state'].map((name) => join(top, name)) as [string, string, string];
  for (const folder of [root, home, stateDir]) mkdirSync(folder);
  plant(root, top);
  const [program, output] = [join(top, 'bwrap'), join(top, 'trace')];
  const options = `-f -y -qq --seccomp-bpf -s 4096 -e trace=${CALLS.join(',')} -e signal=none`;
  writeFileSync(program, `#!/bin/sh\nexec strace ${options} -o ${output} /usr/bin/bwrap "$@"\n`, { mode: 0o755 });
  const sandbox = createBubblewrap({
    filePolicy: createFilePolicy(),
    path,
    home,
    stateDir,
    programPlaces: [program],
  });

  return {
    root,
    home,
    async trace(commands) {
      // Processes that a command left running are ended before the next begins, so that their actions are not mixed up.
      const lines = commands.map(
        (_, at) => `: < ${MARKER}/${at}; timeout 5 bash -c "$C${at}" </dev/null >/dev/null 2>&1; kill -9 -1`,
      );
      const env = { ...NON_INTERACTIVE, ...Object.fromEntries(commands.map((command, at) => [`C${at}`, command])) };
      const script = `exec 2>/dev/null\n${lines.join('\n')}\n: < ${MARKER}/end\necho finished`;
      const request = { command: { script }, workspace: root, mounts: 'read', tag: 'differential', env } as const;
      const result = await sandbox.run({ ...request, limits: { timeMs: 300_000 } });
      if (!result.ok) throw new Error(result.error.message);
      const { stdout, endMessage } = ran(result.value);
      if (stdout !== 'finished\n') throw new Error(`the commands did not all run: ${endMessage ?? stdout}`);
      return parseTrace(readFileSync(output, 'utf8'), MARKER, commands.length);
    },
    async [Symbol.asyncDispose]() {
      await sandbox.close();
      rmSync(top, { recursive: true, force: true });
    },
  };
}

/** Not below /tmp where that can be helped: a command's own /tmp is nobody else's, so the policy lets it be used. */
function place(): string {
  try {
    accessSync('/srv', constants.W_OK);
    return '/srv';
  } catch {
    return tmpdir();
  }
}

function plant(root: string, top: string): void {
  for (const folder of ['src', 'docs', 'keys']) mkdirSync(join(root, folder));
  const files: Record<string, string> = {
    ...{ 'a.txt': 'a\nTODO b\nc\n', 'b.csv': 'x,1\ny,2\n', 'with space.txt': 'w\n', 'data.json': '{"a":[1]}\n' },
    ...{ 'src/index.ts': 'export const a = 1; // TODO\n', 'docs/x.md': '# X\n', '.hidden': 'h\n', list: 'a.txt\n' },
    ...{ '.env': 'KEY=CANARY\n', 'keys/id_rsa': '-----BEGIN RSA PRIVATE KEY-----\nCANARY\n' },
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
  // A file name that a pattern matches may look like an option.
  for (const name of ['--compress-program=evil.sh', '--pre=evil.sh', '-oout.txt', '-delete'])
    writeFileSync(join(root, name), '');
  writeFileSync(join(root, 'evil.sh'), '#!/bin/sh\ntouch out.txt\n', { mode: 0o755 });
  writeFileSync(join(top, 'outside.txt'), 'CANARY\n');
  symlinkSync('a.txt', join(root, 'link.txt'));
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: root, stdio: 'ignore' });
  git('init', '-q');
  git('add', 'a.txt', 'src', 'docs');
  git('commit', '-qm', 'first');
}
