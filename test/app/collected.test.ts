import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { callCard, callTool, closeBrowser, TestApp } from './browser.ts';

const LONG = { timeout: 120_000 };
let app: TestApp;

beforeAll(async () => {
  app = await TestApp.start();
  writeFileSync(join(app.server.workspace, 'values.ts'), 'export const value = 1;\n');
}, LONG.timeout);
afterEach(async () => {
  await app.closePages();
  rmSync(join(app.server.workspace, 'made.txt'), { force: true });
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

async function newSession(page: Page): Promise<void> {
  const answer = page.waitForResponse((response) => response.request().method() === 'POST');
  await page.getByRole('button', { name: 'New session' }).click();
  const { id } = (await (await answer).json()) as { id: string };
  await page.waitForURL((url) => url.href.includes(id));
}

function sessionOf(page: Page): string {
  return decodeURIComponent(page.url().split('/').at(-1) ?? '');
}

/** The box shows the wish at once, and can be used again when the server has answered. */
async function switchTo(box: Locator, on: boolean): Promise<void> {
  await box.setChecked(on);
  await expect.poll(() => box.isEnabled(), { timeout: 20_000 }).toBe(true);
  expect(await box.isChecked()).toBe(on);
}

test('a session collects the changes of several calls, and one decision keeps a part of them', LONG, async () => {
  const page = await app.open('/', { viewport: { width: 1280, height: 900 } });
  await newSession(page);
  const collect = page.getByRole('checkbox', { name: 'Collect changes' });
  await switchTo(collect, true);
  await callTool(page, 'bash', { command: "sed -i 's/= 1/= 2/' values.ts; echo made > made.txt" });
  await callCard(page, 'bash').locator('[data-effect]').getByText('exit 0 · 1 changed, 1 new · collected').waitFor();
  await callCard(page, 'bash').getByRole('button').first().click();
  await callCard(page, 'bash').getByText('values.ts').first().waitFor();
  expect(await callCard(page, 'bash').getByRole('button', { name: 'Undo' }).count()).toBe(0);
  await callTool(page, 'write_file', { path: 'notes.txt', content: 'a note' });
  const collected = page.getByRole('region', { name: 'Collected changes' });
  await collected.getByText('1 changed, 2 new').waitFor();
  await callCard(page, 'write_file').getByRole('button').first().click();
  await callCard(page, 'write_file').getByText('a note').first().waitFor();
  expect(await callCard(page, 'write_file').getByRole('button', { name: 'Undo' }).count()).toBe(0);
  expect([inWorkspace('values.ts'), inWorkspace('made.txt')]).toEqual(['export const value = 1;\n', null]);
  await collected.getByRole('button', { name: 'Collected changes' }).click();
  await collected.getByText('export const value = 2;').waitFor();
  await app.shot(page, 'collected');
  await collected.getByRole('checkbox', { name: 'Keep notes.txt' }).uncheck();
  await collected.getByRole('button', { name: 'Keep selected' }).click();
  await collected.waitFor({ state: 'detached' });
  expect([inWorkspace('values.ts'), inWorkspace('made.txt'), inWorkspace('notes.txt')]).toEqual([
    'export const value = 2;\n',
    'made\n',
    null,
  ]);
  expect(await collect.isChecked()).toBe(true);
  await newSession(page);
  await page.getByRole('heading', { name: 'How do you want to start?' }).waitFor();
  await callCard(page, 'bash').waitFor({ state: 'detached' });
});

test('what was collected is pending when collecting ends, and can be discarded', LONG, async () => {
  const page = await app.open('/', { viewport: { width: 390, height: 800 } });
  await newSession(page);
  await switchTo(page.getByRole('checkbox', { name: 'Collect changes' }), true);
  await callTool(page, 'bash', { command: 'echo gone > gone.txt' });
  await page.getByRole('region', { name: 'Collected changes' }).getByText('1 new').waitFor();
  await switchTo(page.getByRole('checkbox', { name: 'Collect changes' }), false);
  const pending = page.getByRole('region', { name: 'Collected changes' });
  await pending.getByRole('button', { name: 'Pending changes' }).click();
  await app.shot(page, 'collected-narrow');
  await pending.getByRole('button', { name: 'Discard' }).click();
  await pending.waitFor({ state: 'detached' });
  expect(inWorkspace('gone.txt')).toBe(null);
});

test('a session stands on what another one has collected, and is kept there', LONG, async () => {
  const page = await app.open('/', { viewport: { width: 1280, height: 900 } });
  await newSession(page);
  const parent = sessionOf(page);
  const collect = page.getByRole('checkbox', { name: 'Collect changes' });
  const onto = page.getByRole('combobox', { name: 'for', exact: true });
  const collected = page.getByRole('region', { name: 'Collected changes' });
  await switchTo(collect, true);
  await onto.waitFor({ state: 'detached' });
  await callTool(page, 'bash', { command: 'echo below > below.txt' });
  await collected.getByText('1 new').waitFor();

  await newSession(page);
  const child = sessionOf(page);
  await onto.selectOption(parent);
  await app.shot(page, 'collect-onto');
  await switchTo(collect, true);
  await callTool(page, 'bash', { command: 'cat below.txt > above.txt' });
  await collected.getByText('1 new').waitFor();
  await collected.getByText('Keeping them adds them to the collected changes of').waitFor();
  await app.shot(page, 'collected-onto');
  await collected.getByRole('button', { name: 'Collected changes' }).click();
  await collected.getByRole('button', { name: 'Keep all' }).click();
  await collected.waitFor({ state: 'detached' });
  expect(inWorkspace('above.txt')).toBe(null);

  const sessions = page.getByRole('combobox', { name: 'Sessions', exact: true });
  await sessions.selectOption(parent);
  await collected.getByText('2 new').waitFor();
  // Refused, so that the box stays as it is.
  await collect.click();
  const alert = page.getByRole('alert');
  await alert.waitFor();
  expect(await alert.textContent()).toContain(`These stand on the changes of ${parent}: session ${child}`);
  expect(app.errors.splice(0)).toEqual([expect.stringContaining('409')]);
  await sessions.selectOption(child);
  await switchTo(collect, false);
  await sessions.selectOption(parent);
  await switchTo(collect, false);
  await collected.getByRole('button', { name: 'Pending changes' }).click();
  await collected.getByRole('button', { name: 'Keep all' }).click();
  await collected.waitFor({ state: 'detached' });
  expect([inWorkspace('below.txt'), inWorkspace('above.txt')]).toEqual(['below\n', 'below\n']);
});

test(
  'on a narrow page in Chinese, a session that another client lets collect can be stood on at once',
  LONG,
  async () => {
    const page = await app.open('/', { viewport: { width: 390, height: 800 }, locale: 'zh-CN', colorScheme: 'dark' });
    const made = page.waitForResponse((response) => response.request().method() === 'POST');
    await page.getByRole('button', { name: '新会话' }).click();
    await made;
    const collect = page.getByRole('checkbox', { name: '收集更改' });
    await collect.waitFor();
    const title = 'A parent session with a title that is much longer than a narrow page is wide';
    const { body } = await app.server.post('/v1/sessions', { title });
    const put = (collect: boolean) => app.server.send('PUT', `/v1/sessions/${body.id}/collecting`, { collect });
    expect((await put(true)).status).toBe(200);
    await page.getByRole('combobox', { name: '保留到', exact: true }).selectOption({ label: title });
    await app.shot(page, 'collect-onto-narrow');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    // It ends meanwhile, which no event says: the page is told, and offers it no longer.
    expect((await put(false)).status).toBe(200);
    await collect.click();
    await page.getByRole('alert').getByText('没有在收集更改').waitFor();
    await page.getByRole('option', { name: title }).nth(1).waitFor({ state: 'detached' });
    expect(await collect.isChecked()).toBe(false);
    expect(app.errors.splice(0)).toEqual([expect.stringContaining('404')]);
  },
);
