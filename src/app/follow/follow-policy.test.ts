import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Ledger } from '../../kernel/call/ledger.ts';
import { saveRule } from '../admin/manage-rules.ts';
import { type App, openApp } from '../open-app.ts';

let home: string;
let app: App;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'follow-'));
  const workspace = mkdtempSync(join(home, 'project-'));
  const opened = await openApp({ workspace, home, env: { PATH: '/usr/local/bin:/usr/bin:/bin' } });
  if (!opened.ok) throw new Error(opened.error.message);
  app = opened.value;
});
afterEach(async () => {
  await app.close();
  rmSync(home, { recursive: true, force: true });
});

async function verdict(): Promise<string> {
  const reviewed = await app.executor.review('bash', app.context, { command: 'ls' });
  return reviewed.ok ? reviewed.value.verdict.verdict : reviewed.error.message;
}

/** The next reading of the rules goes as it says. */
function nextRules(store: Ledger, read: (rules: Ledger['rules']) => ReturnType<Ledger['rules']>): void {
  const { rules } = store;
  store.rules = () => {
    store.rules = rules;
    return read(rules);
  };
}

test('rules that cannot be read now are read soon after', async () => {
  nextRules(app.store, () => Promise.reject(new Error('the disk is busy')));
  await saveRule(app, { rule: 'bash(ls)', verdict: 'deny' }, 'ana');
  await expect.poll(verdict, { timeout: 20_000 }).toBe('deny');
});

test('a slow reading of the rules does not undo a later one', async () => {
  let late = () => {};
  nextRules(app.store, async (rules) => {
    const before = await rules();
    await new Promise<void>((resolve) => {
      late = resolve;
    });
    return before;
  });
  const slow = app.rules.reload();
  await saveRule(app, { rule: 'bash(ls)', verdict: 'deny' }, 'ana');
  const quick = app.rules.reload();
  await new Promise(setImmediate);
  late();
  await Promise.all([slow, quick]);
  expect(await verdict()).toBe('deny');
});

test('a rule and a switch of another process that come while they are first read are not missed', async () => {
  const { store, workspace } = app;
  const { rules, toolStates } = store;
  // After they were read, and before the answer is there.
  const data = { ruleId: 'r1', rule: 'bash(ls)', verdict: 'deny', by: 'ana', workspace: null } as const;
  store.rules = async () => {
    store.rules = rules;
    const read = await rules();
    await store.record({ type: 'rule.saved', at: Date.now(), data });
    return read;
  };
  store.toolStates = async () => {
    store.toolStates = toolStates;
    const read = await toolStates();
    await store.record({ type: 'tool.switched', at: Date.now(), data: { tool: 'glob', enabled: false, by: 'ana' } });
    return read;
  };
  const kept = { store, recorded: store, blobs: app.blobs, hider: app.hider };
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin' };
  const second = await openApp({ workspace: workspace.root, home, env, store: kept });
  if (!second.ok) throw new Error(second.error.message);
  const { executor, context, registry } = second.value;
  const judged = async () => {
    const reviewed = await executor.review('bash', context, { command: 'ls' });
    return reviewed.ok && reviewed.value.verdict.verdict;
  };
  await expect.poll(judged, { timeout: 5000 }).toBe('deny');
  await expect.poll(() => registry.find('glob').ok, { timeout: 5000 }).toBe(false);
  await second.value.close();
});
