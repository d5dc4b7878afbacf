import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { closeBrowser, openQuestion, TestApp } from './browser.ts';

const LONG = { timeout: 120_000 };
const READY = { timeout: 15_000 };
let app: TestApp;

beforeAll(async () => {
  app = await TestApp.start();
}, LONG.timeout);
afterEach(async () => {
  await app.closePages();
  for (const { id } of await app.server.pending()) await app.server.post(`/v1/approvals/${id}/deny`);
  expect(app.errors.splice(0)).toEqual([]);
}, LONG.timeout);
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await closeBrowser();
}, LONG.timeout);

/** A question about a command, open on a page; and its button for yes. */
async function asked(args: Record<string, unknown>): Promise<{ page: Page; dialog: Locator; allow: Locator }> {
  await app.server.ask(args, 'bash');
  const page = await app.open();
  const dialog = await openQuestion(page);
  return { page, dialog, allow: dialog.getByRole('button', { name: /^Allow/ }).last() };
}

async function editAs(dialog: Locator, way: 'Form' | 'JSON'): Promise<void> {
  await dialog.getByRole('button', { name: 'Edit', exact: true }).click();
  await dialog.getByRole('tab', { name: way }).click();
}

/** To the end of what would run now, as a person scrolls there. */
async function scrollToEnd(dialog: Locator): Promise<void> {
  await dialog.locator('.approval-details > :last-child').scrollIntoViewIfNeeded();
}

describe('what runs after an edit', () => {
  test('[E17] must have been in sight to its end as well', LONG, async () => {
    const command = Array.from({ length: 150 }, (_, index) => `# line ${index}`).join('\n');
    const { page, dialog, allow } = await asked({ command: `${command}\nrmdir none` });
    await editAs(dialog, 'Form');
    const reviewed = page.waitForResponse(/\/review$/);
    await dialog.getByLabel(/^timeout /).fill('7');
    await reviewed;
    await page.waitForTimeout(700);
    expect(await allow.isEnabled()).toBe(false);
    await dialog.getByText('Scroll to the end of what will run first').waitFor();
    await scrollToEnd(dialog);
    await expect.poll(() => allow.isEnabled(), READY).toBe(true);
    await dialog.getByLabel(/^command /).fill(`${command}\nrmdir other`);
    await dialog.getByText('Scroll to the end of what will run first').waitFor();
    expect(await allow.isEnabled()).toBe(false);
    await scrollToEnd(dialog);
    await allow.click();
    await dialog.waitFor({ state: 'detached' });
    const { items } = (await app.server.get('/v1/history?tool=bash&limit=1')).body;
    expect(items[0].args).toMatchObject({ command: `${command}\nrmdir other`, timeout: 7 });
  });

  test('a long line is shown in more than one row', LONG, async () => {
    const { dialog } = await asked({ command: `rmdir ${'x'.repeat(400)}` });
    await editAs(dialog, 'Form');
    expect(Number(await dialog.getByLabel(/^command /).getAttribute('rows'))).toBeGreaterThan(3);
  });
});
