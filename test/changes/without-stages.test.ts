import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type CommandOptions, commandWorkspace } from '../../src/testing/command-workspace.ts';

const open = (given: Partial<CommandOptions>) =>
  commandWorkspace({ path: '/usr/local/bin:/usr/bin:/bin', files: { 'a.txt': 'one\n' }, ...given });

describe('where nothing stages, but a run can be kept from writing', () => {
  const effects = 'read-first';

  test('a command that only reads is not asked about', async () => {
    await using ws = await open({ effects, approve: false });
    const ran = await ws.call('bash', { command: 'cat a.txt; exit 3' });
    expect([ran.value, ws.asked]).toMatchObject([{ stdout: 'one\n', exitCode: 3 }, []]);
  });

  test('one that was refused a write is asked about in these words, and a yes runs it on the real files', async () => {
    await using ws = await open({ effects });
    const ran = await ws.call('bash', { command: 'echo two >>a.txt && cat a.txt' });
    expect(ws.asked).toEqual([expect.stringContaining('It wants to write files')]);
    expect(ran.value).toMatchObject({ stdout: 'one\ntwo\n', exitCode: 0 });
    expect(readFileSync(ws.file('a.txt'), 'utf8')).toBe('one\ntwo\n');
  });

  test('a no leaves the files as they were, and the result says why', async () => {
    await using ws = await open({ effects, approve: false });
    const ran = await ws.call('run_code', { language: 'python', code: "open('new.txt', 'w')" });
    expect(ws.asked).toHaveLength(1);
    expect(ran.text).toContain('It was not run on the real files: ');
    expect(existsSync(ws.file('new.txt'))).toBe(false);
  });

  test('a script that goes on after the refusal is asked about, too', async () => {
    await using ws = await open({ effects });
    await ws.call('bash', { command: 'touch new.txt; true' });
    expect([ws.asked.length, existsSync(ws.file('new.txt'))]).toEqual([1, true]);
  });

  test('mode plan never runs it on the real files, and a rule does at once', async () => {
    await using planned = await open({ effects, mode: 'plan' });
    const refused = await planned.call('bash', { command: 'touch new.txt' });
    expect(refused.text).toContain('It was not run on the real files: ');
    expect([planned.asked, existsSync(planned.file('new.txt'))]).toEqual([[], false]);
    await using ruled = await open({ effects, rules: { allow: ['bash(touch *)'] }, approve: false });
    await ruled.call('bash', { command: 'touch new.txt' });
    expect([ruled.asked, existsSync(ruled.file('new.txt'))]).toEqual([[], true]);
  });

  test('a dry run says that it wants to write, and never does', async () => {
    await using ws = await open({ effects, options: { dryRun: true } });
    const dry = await ws.call('bash', { command: 'touch new.txt' });
    expect(dry.text).toContain('It wants to write files: a yes would run it on the real files.');
    expect([ws.asked, existsSync(ws.file('new.txt'))]).toEqual([[], false]);
  });
});

describe('where there is no sandbox', () => {
  test('every command without a rule is asked about, also one that reads, and a rule runs it', async () => {
    await using ws = await open({ effects: 'live', mode: 'auto', approve: false, rules: { allow: ['bash(cat *)'] } });
    expect((await ws.call('bash', { command: 'wc -l a.txt' })).error?.code).toBe('APPROVAL_DENIED');
    expect((await ws.call('run_code', { language: 'python', code: '1' })).error?.code).toBe('APPROVAL_DENIED');
    expect(ws.asked).toHaveLength(2);
    expect((await ws.call('bash', { command: 'cat a.txt' })).value).toMatchObject({ stdout: 'one\n' });
  });
});
