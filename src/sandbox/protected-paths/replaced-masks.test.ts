import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type SandboxRun, type TrySandbox, trySandbox } from '../../testing/try-sandbox.ts';

const path = process.env['PATH'] ?? '';
const at: TrySandbox = trySandbox({ path });
afterAll(() => at[Symbol.asyncDispose]());

/** As editors save: the new file beside the old one, then the one over the other. */
function replace(name: string, content: string): void {
  writeFileSync(join(at.workspace, 'save.tmp'), content);
  renameSync(join(at.workspace, 'save.tmp'), join(at.workspace, name));
}

/** Starts a run, does something on the host once it goes, and lets the run go on. */
async function meanwhile(script: string, act: () => void, mounts: 'read' | 'live' = 'live'): Promise<SandboxRun> {
  let begun = (): void => {};
  const ready = new Promise<void>((resolve) => {
    begun = resolve;
  });
  rmSync(join(at.workspace, 'go'), { force: true });
  const waiting = `echo ready; until [ -e go ]; do sleep 0.02; done; ${script}`;
  const running = at.sh(waiting, { mounts, limits: { timeMs: 30_000 }, onOutput: () => begun() });
  await ready;
  act();
  writeFileSync(join(at.workspace, 'go'), '');
  return running;
}

describe('a hidden file that is replaced on the host while a run goes on', () => {
  test.each(['read', 'live'] as const)('ends the run, in mode %s', async (mounts) => {
    at.write('.env', 'OLD');
    const { endedBy, endMessage, notes } = await meanwhile('sleep 25', () => replace('.env', 'NEW'), mounts);
    expect(endedBy).toBe('exposed');
    expect(endMessage).toContain('Run it again');
    expect(notes[0]).toContain('While it ran .env was replaced');
  });

  test('ends it also when the old one was deleted first', async () => {
    at.write('deploy/server.key', 'OLD');
    const act = () => {
      rmSync(join(at.workspace, 'deploy/server.key'));
      at.write('deploy/server.key', 'NEW');
    };
    expect((await meanwhile('sleep 25', act)).endedBy).toBe('exposed');
  });

  test('does not end it when the file is only written, or is gone', async () => {
    at.write('.env', 'OLD');
    at.write('gone.pem', 'OLD');
    const act = () => {
      writeFileSync(join(at.workspace, '.env'), 'WRITTEN');
      rmSync(join(at.workspace, 'gone.pem'));
    };
    const { endedBy, stdout, notes } = await meanwhile('sleep 0.5; cat .env', act);
    expect([endedBy, stdout, notes]).toEqual([null, 'ready\n', []]);
  });
});

test('a blocked name that becomes free ends the run, and what it put there is put aside', async () => {
  const act = () => rmSync(join(at.workspace, '.toolwright'), { recursive: true });
  const script = 'mkdir .toolwright; echo "{}" > .toolwright/config.json; sleep 25';
  const { endedBy } = await meanwhile(script, act);
  expect(endedBy).toBe('exposed');
  expect(existsSync(join(at.workspace, '.toolwright'))).toBe(false);
});

describe('a protected file that is replaced on the host while a run goes on', () => {
  const settings = () => join(at.workspace, '.vscode/settings.json');

  test('is put aside when it has changed: who wrote it cannot be told', async () => {
    at.write('.vscode/settings.json', '{}');
    const script = 'echo "{\\"evil\\": 1}" > .vscode/settings.json';
    const { quarantined, endedBy } = await meanwhile(script, () => replace('.vscode/settings.json', '{ }'));
    expect(endedBy).toBe(null);
    expect(quarantined.map((each) => each.path)).toEqual(['.vscode/settings.json']);
    expect(existsSync(settings())).toBe(false);
  });

  test('stays where it is when it says the same, or was only written by the host', async () => {
    at.write('.vscode/settings.json', '{}');
    expect((await meanwhile('true', () => replace('.vscode/settings.json', '{}'))).quarantined).toEqual([]);
    const write = () => writeFileSync(settings(), '{"mine": 1}');
    expect((await meanwhile('echo x > .vscode/settings.json; true', write)).quarantined).toEqual([]);
    expect(readFileSync(settings(), 'utf8')).toBe('{"mine": 1}');
  });
});
