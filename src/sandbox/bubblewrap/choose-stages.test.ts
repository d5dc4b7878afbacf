import { execFile } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { removeTree } from '../../host/remove-tree.ts';
import { type TrySandbox, trySandbox } from '../../testing/try-sandbox.ts';
import { readRecord } from '../stage/stage-folder.ts';
import { type ChosenStages, chooseStages } from './choose-stages.ts';
import { findBubblewrap } from './detect.ts';

const path = process.env['PATH'] ?? '';

describe('the choice of a mechanism', () => {
  let stateDir = '';
  let tried: ChosenStages[] = [];
  beforeEach(() => {
    stateDir = realpathSync(mkdtempSync(join(tmpdir(), 'choose-stages-')));
    tried = [];
  });
  afterEach(() => {
    for (const folder of [stateDir, ...tried.map((each) => each.folder)])
      rmSync(folder, { recursive: true, force: true });
  });

  function choose(
    works: (candidate: ChosenStages) => boolean,
    stages: { readonly stages?: 'overlay' | 'copy' } = {},
  ): ReturnType<typeof chooseStages> {
    return chooseStages({ stateDir, ...stages }, async (candidate) => {
      tried.push(candidate);
      return works(candidate);
    });
  }

  const isInMemory = ({ folder }: ChosenStages): boolean => dirname(folder) === '/dev/shm';

  test('an overlay in the state folder comes first', async () => {
    const folder = join(stateDir, 'stages');
    expect(await choose(() => true)).toMatchObject({ ok: true, value: { kind: 'overlay', folder } });
    expect(tried).toHaveLength(1);
  });

  test('where none can lie on the disk of the state folder, stages are in memory, in a private folder that a restart finds again', async () => {
    const first = await choose(isInMemory);
    if (!first.ok) throw new Error(first.error.message);
    expect(first.value.kind).toBe('overlay');
    const { folder } = first.value;
    expect([isInMemory(first.value), statSync(folder).mode & 0o777]).toEqual([true, 0o700]);
    expect(await choose(isInMemory)).toMatchObject({ value: { folder } });
  });

  test('a folder in memory that others may open is not used', async () => {
    const first = await choose(isInMemory);
    if (!first.ok) throw new Error(first.error.message);
    chmodSync(first.value.folder, 0o755);
    expect(await choose(isInMemory)).toMatchObject({ value: { kind: 'copy', folder: join(stateDir, 'stages') } });
  });

  test('where no overlay works at all, stages are copies', async () => {
    const chosen = await choose(() => false);
    expect(chosen).toEqual({ ok: true, value: { kind: 'copy', folder: join(stateDir, 'stages'), program: null } });
    expect(new Set(tried.map(({ program }) => program))).toEqual(new Set(['unshare', 'bubblewrap']));
  });

  test('a folder in memory that was made for the trial alone does not stay, and one that was there does', async () => {
    await choose(() => false);
    const inMemory = tried.find(isInMemory)?.folder ?? '';
    expect([inMemory === '', existsSync(inMemory)]).toEqual([false, false]);
    await choose(isInMemory);
    await choose(() => false);
    expect(existsSync(inMemory)).toBe(true);
  });

  test('who asks for overlays where none work is told the repair', async () => {
    const chosen = await choose(() => false, { stages: 'overlay' });
    expect(chosen).toMatchObject({ ok: false, error: { code: 'SANDBOX_UNAVAILABLE' } });
    expect(chosen.ok || chosen.error.message).toContain('allow user namespaces for bwrap');
  });

  test('who asks for copies gets them without a trial', async () => {
    expect(await choose(() => true, { stages: 'copy' })).toMatchObject({ value: { kind: 'copy' } });
    expect(tried).toEqual([]);
  });
});

describe('on a machine whose overlays fail', () => {
  test('a run works in a copy, and the workspace stays as it is', async () => {
    await using at = trySandboxWithout('true');
    const status = await at.sandbox.status();
    expect(status).toMatchObject({ value: { stages: { kind: 'copy' }, details: { stages: 'copies' } } });
    await expectStagedByCopy(at);
  });

  test('a run in the one workspace over which none can be mounted works in a copy as well', async () => {
    await using at = trySandboxWithout('grep -qE " /[^ ]*/ws rw[^-]* - overlay " /proc/self/mountinfo');
    expect(await at.sandbox.status()).toMatchObject({ value: { stages: { kind: 'overlay' } } });
    await expectStagedByCopy(at);
  });
});

test('whoever may mount in a namespace of their own alone, such as root of a container, can replace folders in a stage', async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'unprivileged-')));
  const [home, state, workspace] = ['home', 'state', 'ws'].map((name) => join(root, name)) as [string, string, string];
  for (const folder of [home, state, join(workspace, 'd')]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(workspace, 'd/old'), '1');
  const program = new URL('../../testing/stages/print-notes.mjs', import.meta.url).pathname;
  const unprivileged = process.getuid?.() === 0 ? ['setpriv', '--bounding-set', '-sys_admin'] : ['env'];
  const words = [process.execPath, program, home, state, workspace, 'rm -r d && mkdir d && echo 1 >d/new'];
  const [file = '', ...args] = [...unprivileged, ...words];
  const { stdout } = await promisify(execFile)(file, args).finally(() => removeTree(root));
  expect(JSON.parse(stdout)).toEqual({
    stages: 'overlays by bubblewrap',
    notes: [],
    changes: ['created d/new', 'deleted d/old'],
  });
});

/** A real bubblewrap, before which every overlay of a view fails where `condition` holds. */
function trySandboxWithout(condition: string): TrySandbox {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'without-overlays-')));
  const bwrap = join(folder, 'bwrap');
  const refuse = "{ echo 'toolwright: no overlay can be mounted here' >&2; exit 125; }";
  const script = `#!/bin/sh
if grep -qE 'lowerdir=[^ ]*\\blower,' /proc/self/mountinfo && ${condition}; then ${refuse}; fi
exec ${findBubblewrap()} "$@"
`;
  writeFileSync(bwrap, script, { mode: 0o755 });
  const at = trySandbox({ path, programPlaces: [bwrap] });
  return {
    ...at,
    async [Symbol.asyncDispose]() {
      await at[Symbol.asyncDispose]();
      removeTree(folder);
    },
  };
}

async function expectStagedByCopy(at: TrySandbox): Promise<void> {
  at.write('kept.txt', 'kept');
  at.write('deep/gone.txt', 'kept');
  const { staged, stdout } = await at.sh(
    'cat kept.txt; echo new >kept.txt; rm -r deep; echo x >made.txt; cat kept.txt',
  );
  expect(stdout).toBe('keptnew\n');
  expect(staged?.changes.map((change) => `${change.kind} ${change.path}`)).toEqual([
    'deleted deep',
    'modified kept.txt',
    'created made.txt',
  ]);
  expect(readRecord(dirname(staged?.content ?? ''))?.kind).toBe('copy');
  for (const name of ['kept.txt', 'deep/gone.txt']) {
    expect(readFileSync(join(at.workspace, name), 'utf8')).toBe('kept');
  }
  expect(existsSync(join(at.workspace, 'made.txt'))).toBe(false);
}
