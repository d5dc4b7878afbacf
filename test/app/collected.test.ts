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
