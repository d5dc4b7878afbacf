import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { createNone } from '../../src/sandbox/none.ts';
import type { Attack } from './attack.ts';
import { attackGroups } from './attack-groups.ts';
import { ASK_ABOUT_CHANGES, readSettings } from './case-settings.ts';
import { catalogue } from './define-attack-tests.ts';
import { createFixture } from './fixture.ts';
import { observe, type Runner, runAttacks } from './harness.ts';
import { createRunCodeRunner } from './runners/run-code-runner.ts';

describe('the attack catalogue', () => {
  test('every case is tried by one test file', () => {
    const parts = Object.values(attackGroups);
    const others = catalogue.filter((attack) => parts.filter((isMeant) => isMeant(attack)).length !== 1);
    // A hundred rounds take minutes: test/faults/server-kill.test.ts tries the same with twenty.
    expect(others.map(({ id }) => id)).toEqual(['DATA-024']);
  });

  test('every case is passed, pending or unchecked, and pending ones say what they wait for', async () => {
    const others = catalogue.filter(({ category }) => category !== '5-sandbox');
    const report = await runAttacks(others, {});
    expect([report.failed, report.pending]).toEqual([0, others.length]);
    expect(report.cases[0]?.reason).toMatch(/^no part of the product takes run:/);
  });
});

test('the command ends by itself, also after cases that leave a call waiting for a person', async () => {
  const left = catalogue.find(({ id }) => id === 'APR-009');
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-attacks-'));
  const file = join(folder, 'one.jsonl');
  writeFileSync(file, `${JSON.stringify(left)}\n`);
  const args = ['--import', 'tsx', 'scripts/attacks.ts', '--file', file];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 });
  rmSync(folder, { recursive: true });
  expect(stdout).toBe('ok   APR-009 ask \n1 passed, 0 failed, 0 unchecked, 0 pending, of 1.\n');
}, 90_000);

describe('the harness', () => {
  test('notices when there is no sandbox', async () => {
    const without = createRunCodeRunner(({ folder, path }) =>
      createNone({ path: path ?? '', home: '/nonexistent', stateDir: folder }),
    );
    const attacks = catalogue.filter(({ id }) => ['SBX-002', 'SBX-009', 'SBX-010', 'SBX-032'].includes(id));
    const { cases } = await runAttacks(attacks, { 'run:run_code': without });
    expect(cases.map(({ passed }) => passed)).toEqual([false, false, false, false]);
  });

  const base: Attack = {
    ...(catalogue.find(({ never_execute }) => never_execute) as Attack),
    id: 'TEST-1',
  };
  const executed: string[] = [];
  const execute: Runner = {
    kind: 'execute',
    async run(fixture) {
      executed.push(fixture.attack.id);
      return { outcomes: ['sandboxed'], text: 'CANARY-OUT', durationMs: 1, detail: null };
    },
  };

  test('refuses in code to execute a case that must never be', async () => {
    await using fixture = await createFixture(base);
    expect(() => observe(execute, fixture)).toThrow('TEST-1 must never be executed');
    const report = await runAttacks([base], { 'policy:*': execute, 'run:*': execute, 'run:bash': execute });
    expect(report.cases).toMatchObject([{ passed: false, outcome: 'threw' }]);
    expect(executed).toEqual([]);
  });

  test('fails a case whose outcome or whose asserts do not fit', async () => {
    const run: Attack = { ...base, never_execute: false, mode: 'run' };
    const wrong = { ...run, expect: { any_of: ['deny' as const], assert: [] } };
    const leaking = { ...run, expect: { any_of: ['sandboxed' as const], assert: ['no-leak:CANARY-OUT'] } };
    const { cases, failed } = await runAttacks([wrong, leaking], { 'run:*': execute });
    expect(failed).toBe(2);
    expect(cases.map(({ reason }) => reason)).toEqual([
      'sandboxed is not one of deny: CANARY-OUT',
      'no-leak:CANARY-OUT: CANARY-OUT was shown',
    ]);
  });

  test('fails a case that must leave us alive when the next call is lost or an error was not caught', async () => {
    const run: Attack = { ...base, never_execute: false, mode: 'run' };
    const asked = { ...run, expect: { any_of: ['sandboxed' as const], assert: ['alive'] } };
    const seen = { outcomes: ['sandboxed' as const], text: '', durationMs: 1, detail: null };
    const silent: Runner = { kind: 'execute', run: async () => ({ ...seen, answersAfter: false }) };
    const throwing: Runner = {
      kind: 'execute',
      async run() {
        (process as NodeJS.EventEmitter).emit('uncaughtExceptionMonitor', new Error('boom'), 'uncaughtException');
        return { ...seen, answersAfter: true };
      },
    };
    const fine: Runner = { kind: 'execute', run: async () => ({ ...seen, answersAfter: true }) };
    const passed: boolean[] = [];
    for (const runner of [silent, throwing, fine]) {
      passed.push((await runAttacks([asked], { 'run:*': runner })).cases[0]?.passed ?? false);
    }
    expect(passed).toEqual([false, false, true]);
  });

  test('fails a case with a line in its set-up that nothing reads', async () => {
    const lines = [
      'cfg: mode reckless',
      'cfg: denies bash(rm *)',
      'net: a server of some kind',
      'state: a full moon',
      'x',
    ];
    const cases = lines.map((line) => ({ ...base, never_execute: false, mode: 'run' as const, setup: [line] }));
    const report = await runAttacks(cases, { 'run:*': execute });
    expect(report.cases.map(({ outcome, reason }) => [outcome, reason.includes('another case')])).toEqual(
      lines.map(() => ['threw', true]),
    );
  });

  test('fails a case whose code ran and failed, unless the case says how far it comes or how it fails', async () => {
    const run: Attack = { ...base, never_execute: false, mode: 'run' };
    const seen = {
      outcomes: ['sandboxed' as const],
      text: 'so far',
      durationMs: 1,
      detail: null,
      failed: 'no such program',
    };
    const failing: Runner = { kind: 'execute', run: async () => seen };
    const asserts = [[], ['says:so far'], ['says:further'], ['fails:no such program'], ['fails:refused']];
    const cases = asserts.map((more) => ({
      ...run,
      expect: { any_of: ['sandboxed' as const], assert: ['absent:{{WS}}/PWNED', ...more] },
    }));
    const report = await runAttacks(cases, { 'run:*': failing });
    expect(report.cases.map(({ passed }) => passed)).toEqual([false, true, false, true, false]);
  });

  test('fails a case with a setting that its runner does not read, an unknown assert, an unknown value or nothing to compare', async () => {
    const run: Attack = { ...base, never_execute: false, mode: 'run' };
    const fine = { any_of: ['sandboxed' as const], assert: [] };
    const cases = [
      { ...run, expect: fine },
      { ...run, expect: fine, setup: ['cfg: mode strict'] },
      { ...run, expect: { ...fine, assert: ['absnt:{{WS}}/x'] } },
      { ...run, expect: { ...fine, assert: ['absent:{{WORKSPACE}}/x'] } },
      { ...run, expect: { ...fine, assert: ['same:{{WS}}/missing'] } },
    ];
    const report = await runAttacks(cases, { 'run:*': execute });
    expect(report.cases.map(({ outcome }) => outcome)).toEqual(['sandboxed', 'threw', 'unchecked', 'threw', 'threw']);
  });

  test('asks about the changes of commands in every case but those about what a mode keeps', () => {
    const settings = catalogue.map((attack) => ({ ...readSettings(attack), name: attack.class }));
    const others = settings.filter(({ ask }) => !ask.includes(ASK_ABOUT_CHANGES)).map(({ name }) => name);
    expect(others.filter((name) => !/^rt\.|^sbx\.disk-sparse$|^control\.auto-keeps$/.test(name))).toEqual([]);
    expect(
      readSettings({ tool: 'bash', setup: ['cfg: mode auto', 'cfg: deny bash(git push *), bash(rm *)'] }),
    ).toMatchObject({ mode: 'auto', deny: ['bash(git push *)', 'bash(rm *)'], ask: [ASK_ABOUT_CHANGES] });
  });

  test('reports as unchecked what nobody wrote a check for', async () => {
    const run: Attack = { ...base, never_execute: false, mode: 'run' };
    const asked = { ...run, expect: { any_of: ['sandboxed' as const], assert: ['text:something'] } };
    const report = await runAttacks([asked], { 'run:*': execute });
    expect([report.passed, report.failed, report.unchecked]).toEqual([0, 0, 1]);
  });
});
