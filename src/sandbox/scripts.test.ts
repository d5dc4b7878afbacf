import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readText } from '../host/files.ts';
import { allPids } from '../host/proc.ts';
import { removeTree } from '../host/remove-tree.ts';
import { createFilePolicy } from '../kernel/world/file-policy.ts';
import { LIVE_INPUT, type RunRequest, type Sandbox } from '../kernel/world/sandbox.ts';
import { makeStage, ran } from '../testing/try-sandbox.ts';
import { createBubblewrap } from './bubblewrap/bubblewrap.ts';
import { createNone } from './none.ts';
import { createSeatbelt } from './seatbelt/seatbelt.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'scripts-')));
const program = join(root, 'sandbox-exec');
writeFileSync(program, '#!/bin/sh\nshift 2\nexec "$@"\n');
chmodSync(program, 0o755);
afterAll(() => removeTree(root));

const host = { path: process.env['PATH'] ?? '', home: join(root, 'home'), stateDir: root };
const filePolicy = createFilePolicy();
const workspace = () => mkdtempSync(join(root, 'ws-'));

// At level 1, bash takes a socket as its input for a login from another machine.
const ENVIRONMENT = { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', SHLVL: '3' };

const LIKE_BASH = [
  'echo "$0" $# "$BASH_SOURCE" "$BASH_EXECUTION_STRING"',
  'nosuch',
  '\n\nnosuch; echo $LINENO\nnosuch',
  'exit 7',
  'set -e; false; echo no',
  'set -euo pipefail\nfalse | true\necho no',
  'trap "echo failed" ERR; false',
  'trap "echo bye" EXIT; exit 3',
  'cat',
  'read a; echo "got $a"; cat',
  'head -n 1 >/dev/null; cat <<E\nx $((1 + 1))\nE\necho after',
  'cat <<E\nwithout an end',
  'cat <<E\nwithout a last line break\nE',
  'echo begun; )',
  'echo begun\nif true',
  'echo "open',
  'set -u; echo $nope; echo no',
  'f() { echo "$LINENO"; nosuch; return 4; }\nf',
  '#!/bin/sh\necho "a comment first"',
  'exec echo replaced',
  'exec 3>&1; echo three >&3',
  'exec nosuch',
  'return 3; echo on',
  '(exit 4)',
  'cd nosuch',
  'set -x; echo traced',
  "printf '%s|' 'é\t' \"a\\\\b\" '$x' '`'",
  'echo a \\',
  'sleep 0 & wait $!; echo $?',
  "trap 'echo told; exit 9' TERM; kill -TERM $$; echo no",
  'readlink /proc/self/fd/3; [ -t 0 ]; echo $?',
  '. ./nosuch',
  'eval ")"',
  `: \${x:?gone}; echo no`,
  'echo $((1/0)); echo no',
  `echo ${'long '.repeat(20_000)}`,
];

interface ProgramCase {
  readonly language: 'python' | 'javascript';
  readonly script: string;
  readonly args?: readonly string[];
  readonly stdout: string;
  readonly stderr?: RegExp;
  readonly exitCode?: number;
}

const PROGRAMS: readonly ProgramCase[] = [
  {
    language: 'python',
    script: 'import sys; print(sys.argv, sys.path[0], __name__)',
    args: ['a'],
    stdout: "['-c', 'a']  __main__\n",
  },
  {
    language: 'python',
    script: 'from __future__ import annotations\nprint(sorted(set(dir()) - set(dir(__builtins__))))',
    stdout: "['__annotations__', '__builtins__', 'annotations']\n",
  },
  {
    language: 'python',
    script: 'print("é", flush=True)\ndef f():\n  raise ValueError("x")\nf()',
    stdout: 'é\n',
    stderr:
      /^Traceback \(most recent call last\):\n {2}File "<string>", line 4, in <module>\n(.*\n)? {2}File "<string>", line 3, in f\n(.*\n)?ValueError: x\n$/,
    exitCode: 1,
  },
  {
    language: 'python',
    script: 'x = = 1',
    stdout: '',
    stderr: /^ {2}File "<string>", line 1\n {4}x = = 1\n/,
    exitCode: 1,
  },
  { language: 'python', script: 'import sys; print(repr(sys.stdin.read())); sys.exit(3)', stdout: "''\n", exitCode: 3 },
  {
    language: 'javascript',
    script: 'console.log(process.argv.length, process.argv[1], __filename)',
    args: ['a'],
    stdout: '2 a [eval]\n',
  },
  {
    language: 'javascript',
    script: 'const text = 1, script = 2; console.log(typeof require, typeof readFileSync)',
    stdout: 'function undefined\n',
  },
  {
    language: 'javascript',
    script: "process.stdin.on('data', () => {}).on('end', () => console.log('end'))",
    stdout: 'end\n',
  },
  {
    language: 'javascript',
    script: 'throw new Error("x")',
    stdout: '',
    stderr: /\[eval\]:1\n.*\n.*\n\nError: x/,
    exitCode: 1,
  },
  {
    language: 'javascript',
    script: 'let let = 1',
    stdout: '',
    stderr: /\[eval\]:1\n.*\n(.*\n)*SyntaxError/,
    exitCode: 1,
  },
];

const MARK = 'text of nobody else';
/** `read` is a part of the words by which the text is read. */
const WAITING: readonly { script: string; language?: 'python' | 'javascript'; read: string }[] = [
  { script: `: '${MARK}'; echo begun; cat; echo ended`, read: 'BASH_EXECUTION_STRING' },
  {
    language: 'python',
    script: `"${MARK}"\nimport sys\nprint("begun", flush=True); sys.stdin.read(); print("ended")`,
    read: '__excepthook__',
  },
  {
    language: 'javascript',
    script: `"${MARK}"; console.log("begun"); process.stdin.resume().on("end", () => console.log("ended"))`,
    read: 'registerHooks',
  },
];

const sandboxes: readonly [name: string, sandbox: Sandbox][] = [
  ['bubblewrap with overlays', createBubblewrap({ ...host, filePolicy, stages: 'overlay' })],
  ['bubblewrap with copies', createBubblewrap({ ...host, filePolicy, stages: 'copy', cgroups: 'never' })],
  ['what is around seatbelt', createSeatbelt({ ...host, filePolicy, program })],
  ['none', createNone(host)],
];

describe.each(sandboxes)('a script in %s', (_name, sandbox) => {
  afterAll(() => sandbox.close());

  async function run(command: RunRequest['command'], more: Partial<RunRequest> = {}) {
    const result = await sandbox.run({ command, workspace: workspace(), mounts: 'read', tag: 't', ...more });
    if (!result.ok) throw new Error(result.error.message);
    return ran(result.value);
  }

  test.each(LIKE_BASH.map((script) => [script.slice(0, 60), script]))(
    'prints, reads and ends as in `bash -c`: %s',
    async (_title, script = '') => {
      const input = 'one\ntwo\n';
      const options = { cwd: workspace(), input, env: ENVIRONMENT, encoding: 'utf8' } as const;
      const expected = spawnSync('/bin/bash', ['-c', script, 'bash'], options);
      const { stdout, stderr, exitCode } = await run({ script }, { stdin: input });
      expect([stdout, stderr, exitCode]).toEqual([expected.stdout, asEval(expected.stderr), expected.status]);
    },
  );

  test.each(PROGRAMS)(
    'of $language runs as with `-c` or `-e`: $script',
    async ({ language, script, args = [], ...end }) => {
      const { stdout, stderr, exitCode } = await run({ script, language, args });
      expect([stdout, exitCode]).toEqual([end.stdout, end.exitCode ?? 0]);
      expect(stderr).toMatch(end.stderr ?? /^$/);
    },
  );

  test.each(WAITING)('of $language is in the arguments of no process', async ({ script, read, ...language }) => {
    const isStaged = (await sandbox.status()).ok && sandbox.kind === 'bubblewrap';
    const mounts = isStaged ? ({ mounts: 'staged', stage: { folder: await makeStage(sandbox) } } as const) : {};
    const arguments_ = new Set<string>();
    let closeInput: (() => void) | null = null;
    let isEnded = false;
    const ended = run(
      { script, ...language },
      {
        ...{ ...mounts, stdin: LIVE_INPUT },
        onStart({ input }) {
          closeInput = () => input?.close();
        },
        onOutput: () => closeInput?.(),
      },
    ).finally(() => {
      isEnded = true;
    });
    while (!isEnded) {
      for (const pid of allPids()) arguments_.add(readText(`/proc/${pid}/cmdline`) ?? '');
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await ended).toMatchObject({ stdout: 'begun\nended\n', stderr: '', exitCode: 0 });
    expect([...arguments_].some((words) => words.includes(read))).toBe(true);
    expect([...arguments_].filter((words) => words.includes(MARK))).toEqual([]);
  });
});

/** Bash names the place where it met a syntax error, and marks a trace by its depth. */
function asEval(stderr: string): string {
  return stderr.replaceAll('bash: -c: ', 'bash: eval: ').replace(/^\+ /gm, '++ ');
}
