import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { callCard, callTool, closeBrowser, TestApp } from './browser.ts';

const LONG = { timeout: 120_000 };
const READY = { timeout: 15_000 };
const LINES = Array.from({ length: 24 }, (_, index) => `export const value${index + 1} = ${index + 1};`);
const PAGE = 'docs/reviews.md';
const COMMAND =
  "sed -i 's/value2 = 2/value2 = 20/; s/value22 = 22/value22 = 220/' values.ts; mkdir -p report; echo '# Report' > report/summary.md; echo draft > notes.txt";
/** Runs in the page: the colour of the last such element. */
const colourOf = (selector: string) => `getComputedStyle([...document.querySelectorAll('${selector}')].at(-1)).color`;
/** Runs in the page: the pixels of live output below those in view. */
const LINES_BELOW = `{
  const { scrollHeight, scrollTop, clientHeight } = document.querySelector('[data-live]');
  scrollHeight - scrollTop - clientHeight;
}`;
let app: TestApp;

beforeAll(async () => {
  app = await TestApp.start();
}, LONG.timeout);
beforeEach(() => {
  for (const left of ['notes.txt', 'report'])
    rmSync(join(app.server.workspace, left), { recursive: true, force: true });
  writeFileSync(join(app.server.workspace, 'values.ts'), `${LINES.join('\n')}\n`);
});
afterEach(async () => {
  await app.closePages();
  await app.server.send('PUT', '/v1/mode', { mode: 'ask' });
  for (const { id } of (await app.server.get('/v1/changes')).body.items)
    await app.server.post(`/v1/changes/${id}/discard`);
  expect(app.errors.splice(0)).toEqual([]);
}, LONG.timeout);
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await closeBrowser();
}, LONG.timeout);

function inWorkspace(path: string): string | null {
  const file = join(app.server.workspace, path);
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}

/** Runs the command by hand in the default mode, and opens the question about its changes. */
async function changed(page: Page): Promise<Locator> {
  await callTool(page, 'bash', { command: COMMAND });
  return openQuestion(page);
}

async function openQuestion(page: Page): Promise<Locator> {
  const approvals = page.getByRole('region', { name: 'Approvals' });
  await approvals.getByText('Pending changes').waitFor();
  await approvals.getByRole('button', { name: 'Open' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('heading', { name: 'Keep what this command changed?' }).waitFor();
  return dialog;
}

async function scrollToEnd(dialog: Locator): Promise<void> {
  await dialog.locator('.approval-details > :last-child').scrollIntoViewIfNeeded();
}

test("[D14] the demo's first command shows its effect, is kept in part, and undone", LONG, async () => {
  app.addDemo();
  const before = inWorkspace(PAGE) ?? '';
  const page = await app.open('/', { viewport: { width: 1100, height: 900 } });
  await page.getByRole('button', { name: 'Watch the demo' }).click();
  const dialog = await openQuestion(page);
  expect([inWorkspace(PAGE), inWorkspace('analysis.json')]).toEqual([before, null]);
  await dialog.getByRole('group', { name: 'Changed (1)' }).waitFor();
  await dialog.getByRole('group', { name: 'New (1)' }).waitFor();
  const all = dialog.getByRole('button', { name: 'Keep all' });
  await scrollToEnd(dialog);
  await expect.poll(() => all.isEnabled(), READY).toBe(true);
  await dialog.getByRole('checkbox', { name: `Part 2 of ${PAGE}` }).uncheck();
  await dialog.getByRole('heading', { name: 'Command', exact: true }).scrollIntoViewIfNeeded();
  await app.shot(page, 'changes');
  await page.emulateMedia({ colorScheme: 'dark' });
  await app.shot(page, 'changes-dark');
  expect(await all.isEnabled()).toBe(false);
  await dialog.getByRole('button', { name: 'Keep selected' }).click();
  await dialog.waitFor({ state: 'detached' });
  const card = callCard(page, 'bash').first();
  await card.locator('[data-effect]').getByText('exit 0 · 1 changed, 1 new · kept in part').waitFor();
  await page.getByText('The report is in', { exact: false }).waitFor();
  const figures = before.replace('| 5 |', '| 8 |').replace('3 (60%)', '6 (75%)').replace('4.25', '2.5');
  expect(inWorkspace(PAGE)).toBe(figures);
  expect(inWorkspace('analysis.json')).toContain('"changes": 8');
  await card.getByRole('button', { expanded: false }).first().click();
  await card.locator('[data-diff]').getByText('6 (75%)').waitFor();
  expect(await card.locator('[data-diff]').getByText('4106').count()).toBe(0);
  await app.shot(page, 'changes-kept');
  await card.getByRole('button', { name: 'Undo' }).click();
  await card.getByText(/^Undone: /).waitFor();
  expect([inWorkspace(PAGE), inWorkspace('analysis.json')]).toEqual([before, null]);
});

test('a file of a command is left out, and the others are kept', LONG, async () => {
  const page = await app.open();
  const dialog = await changed(page);
  await dialog.getByRole('group', { name: 'New (2)' }).waitFor();
  await scrollToEnd(dialog);
  await dialog.getByRole('checkbox', { name: 'Keep notes.txt' }).uncheck();
  const selected = dialog.getByRole('button', { name: 'Keep selected' });
  await expect.poll(() => selected.isEnabled(), READY).toBe(true);
  await selected.click();
  await dialog.waitFor({ state: 'detached' });
  expect(await callCard(page, 'apply_changes').count()).toBe(0);
  expect(inWorkspace('values.ts')).toContain('value2 = 20;');
  expect([inWorkspace('report/summary.md'), inWorkspace('notes.txt')]).toEqual(['# Report\n', null]);
});

test('changes that mode auto keeps unasked are shown with their diff, and undone', LONG, async () => {
  await app.server.send('PUT', '/v1/mode', { mode: 'auto' });
  const page = await app.open();
  await callTool(page, 'bash', { command: COMMAND });
  const card = callCard(page, 'bash').last();
  await card.locator('[data-effect]').getByText('exit 0 · 1 changed, 2 new · kept', { exact: true }).waitFor();
  await card.getByRole('button', { expanded: false }).first().click();
  await card.locator('[data-diff]').getByText('value22 = 220').waitFor();
  await app.shot(page, 'changes-unasked');
  await card.getByRole('button', { name: 'Undo' }).click();
  await card.getByText(/^Undone: /).waitFor();
  expect([inWorkspace('values.ts'), inWorkspace('notes.txt')]).toEqual([`${LINES.join('\n')}\n`, null]);
});

test('the text of a change is edited first, with the keyboard alone', LONG, async () => {
  const page = await app.open();
  const dialog = await changed(page);
  const edit = dialog.getByRole('button', { name: 'Edit text: values.ts' });
  await edit.focus();
  await page.keyboard.press('Enter');
  await dialog.locator('.cm-content').focus();
  await page.keyboard.press('Control+End');
  await page.keyboard.type('// mine');
  await dialog.getByText('Edited by you').waitFor();
  await scrollToEnd(dialog);
  const selected = dialog.getByRole('button', { name: 'Keep selected' });
  await expect.poll(() => selected.isEnabled(), READY).toBe(true);
  await selected.focus();
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  expect(inWorkspace('values.ts')).toMatch(/value22 = 220;[\s\S]*\/\/ mine$/);
});

test('changes are discarded with a word to the agent, in Chinese as well', LONG, async () => {
  const page = await app.open('/', { locale: 'zh-CN' });
  await callTool(page, 'bash', { command: COMMAND });
  await page.getByText('待处理的更改').first().waitFor();
  await page.getByRole('button', { name: '打开' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('heading', { name: '保留这条命令所做的更改吗？' }).waitFor();
  await dialog.getByLabel(/告诉智能体原因/).fill('先写测试。');
  const discard = dialog.getByRole('button', { name: '放弃', exact: true });
  await expect.poll(() => discard.isEnabled(), READY).toBe(true);
  await discard.click();
  await dialog.waitFor({ state: 'detached' });
  await callCard(page, 'bash').last().locator('[data-effect]').getByText('未保留').waitFor();
  expect([inWorkspace('values.ts'), inWorkspace('notes.txt')]).toEqual([`${LINES.join('\n')}\n`, null]);
  const { items } = (await app.server.get('/v1/history?tool=bash&limit=1')).body;
  expect(items[0].outcome.text).toContain('先写测试。');
});

test(
  '[D13] a command that failed is shown so, with the end of its output, on its card, in history and in statistics',
  LONG,
  async () => {
    const page = await app.open('/');
    await callTool(page, 'bash', { command: 'seq 400; echo the end of it; exit 7' });
    const card = callCard(page, 'bash').filter({ hasText: 'exit 7' }).last();
    await card.getByText('Failed', { exact: true }).waitFor();
    await card.locator('[data-exit]').getByText('✗ exit 7').waitFor();
    expect(await card.getByText('the end of it').last().isVisible()).toBe(true);
    const red = await page.evaluate(colourOf('[data-phase=failed]'));
    expect(red).toMatch(/\d/);
    expect(await page.evaluate(colourOf('[data-exit]'))).toBe(red);
    await page.goto(`${app.server.running.url}/history`);
    const row = page.getByRole('row', { name: /bash/ }).first();
    await row.getByText('Failed · exit 7').waitFor();
    await page.goto(`${app.server.running.url}/tools`);
    const line = page.locator('tr', { has: page.getByRole('button', { name: 'bash', exact: true }) });
    await line.getByText(/^[1-9]\d* %$/).waitFor();
  },
);

test('a running command shows its newest lines, and keeps them when it is stopped', LONG, async () => {
  const page = await app.open('/');
  await callTool(page, 'bash', { command: 'for i in $(seq 60); do echo line $i of 60; done; sleep 300' });
  const card = callCard(page, 'bash').filter({ hasText: 'of 60' }).last();
  const live = card.locator('[data-live]');
  await live.getByText('line 60 of 60').waitFor();
  await expect.poll(() => page.evaluate(LINES_BELOW)).toBeLessThan(2);
  expect(await page.evaluate("document.querySelector('[data-live]').scrollTop")).toBeGreaterThan(100);
  await card.locator('[data-elapsed]').getByText(/s$/).waitFor();
  await card.getByRole('button', { name: 'Stop this call' }).click();
  await card.getByText('Cancelled', { exact: true }).waitFor();
  await card.getByText(/Cancelled after .* s\./).waitFor();
  await card.getByText('line 1 of 60').waitFor();
});

test('the whole output of a command is downloaded where the card shows a part of it', LONG, async () => {
  const page = await app.open('/');
  await callTool(page, 'bash', { command: 'seq 300000' });
  const card = callCard(page, 'bash').filter({ hasText: 'seq 300000' }).last();
  await card.getByText('Done', { exact: true }).waitFor();
  await card.getByRole('button').first().click();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    card.getByRole('button', { name: 'Download all' }).click(),
  ]);
  const text = readFileSync(await file.path(), 'utf8');
  expect(text).toBe(`${Array.from({ length: 300_000 }, (_, index) => index + 1).join('\n')}\n`);
});

test('a hint for what a command met is on its card, also after long output', LONG, async () => {
  const page = await app.open('/');
  const command = "seq 400; echo 'mv: Invalid cross-device link' >&2; exit 1";
  await callTool(page, 'bash', { command });
  const card = callCard(page, 'bash').filter({ hasText: 'seq 400' }).last();
  await card.locator('[data-effect]').getByText('exit 1').waitFor();
  const hint = card.getByText('cannot be renamed by rename(2) here: use mv, or move_file.');
  await hint.scrollIntoViewIfNeeded();
  expect(await hint.isVisible()).toBe(true);
});
