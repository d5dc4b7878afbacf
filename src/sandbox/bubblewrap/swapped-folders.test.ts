import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { trySandbox } from '../../testing/try-sandbox.ts';

const path = process.env.PATH ?? '';
const at = trySandbox({ path });
afterAll(() => at[Symbol.asyncDispose]());

/** Swaps a folder that has something to hide for a link, and a file in another folder for another one, again and again. */
const swapper = (link: string, other: string) => `
mkdir -p b e; echo x > b/.env; echo x > e/.env; ln -s ${link} c; ln -s ${other} e/to
cat > swap.py <<'END'
import ctypes, time
libc = ctypes.CDLL(None)
while True:
    libc.renameat2(-100, b"b", -100, b"c", 2)
    libc.renameat2(-100, b"e/.env", -100, b"e/to", 2)
    time.sleep(0.003)
END
exec python3 swap.py`;

test.each([
  ['to what is above it', '..', '../nothing'],
  ['and covers what would notice', '..', '/newroot/run/mounts'],
])(
  '[E10] a run that swaps a folder for a link %s does not lead another one out of the workspace',
  async (...given) => {
    const at = trySandbox({ path });
    const [, link, other] = given;
    writeFileSync(join(at.home, 'secret.txt'), 'of the home');
    const stop = new AbortController();
    const swapping = at.sh(swapper(link, other), { signal: stop.signal });
    while (!existsSync(join(at.workspace, 'swap.py'))) await sleep(20);
    const look = `cat ${at.home}/secret.txt 2>/dev/null && touch ${at.home}/planted; true`;
    const seen = new Set<string>();
    for (let times = 0; times < 30; times++) {
      const said = await at.sh(look).then(
        ({ stdout }) => stdout,
        (refused: Error) => (/^SANDBOX_UNAVAILABLE/.test(refused.message) ? '' : refused.message),
      );
      if (said !== '') seen.add(said);
    }
    stop.abort();
    await swapping;
    expect([...seen]).toEqual([]);
    expect(readdirSync(at.home)).toEqual(['secret.txt']);
    await at[Symbol.asyncDispose]();
  },
  60_000,
);

test.each(['with blanks', '工作', 'back\\slash', 'a#b', 'a\nb'])(
  'what is mounted is known again under a path such as %j',
  async (name) => {
    const workspace = join(at.root, name);
    mkdirSync(join(workspace, `in ${name}`), { recursive: true });
    writeFileSync(join(workspace, `in ${name}`, '.env'), 'secret');
    const { stdout } = await at.sh('cat in*/.env 2>&1; touch made; ls', { workspace });
    expect(stdout).toContain('made');
    expect(stdout).not.toContain('secret');
  },
);

test('what a run planted is put aside also when somebody kills its sandbox', async () => {
  const request = { workspace: at.workspace, mounts: 'live', tag: 'killed' } as const;
  const script = 'mkdir -p .vscode && echo planted > .vscode/tasks.json; touch ready; sleep 20';
  const running = at.sandbox.run({ ...request, command: { script } });
  while (!existsSync(join(at.workspace, 'ready'))) await sleep(20);
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ');
  const isRun = (pid: string) => readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'bwrap';
  for (const pid of children.filter(isRun)) process.kill(Number(pid), 'SIGKILL');
  const ended = await running;
  expect(ended).toMatchObject({ ok: false, error: { code: 'SANDBOX_UNAVAILABLE' } });
  expect(ended.ok || ended.error.message).toContain('.vscode/tasks.json was put aside');
  expect(existsSync(join(at.workspace, '.vscode/tasks.json'))).toBe(false);
});
