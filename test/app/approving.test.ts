import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  asksBeforeLeaving,
  callCard,
  callTool,
  closeBrowser,
  openForm,
  openQuestion,
  scrollToEnd,
  TestApp,
} from './browser.ts';

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

describe('the form sends exactly the values it shows', () => {
  test('[E17] a field with broken JSON blocks the approval until it is corrected', LONG, async () => {
    const { dialog, allow } = await asked({ command: 'git push none', env: { FOO: 'aa' } });
    await editAs(dialog, 'Form');
    const env = dialog.getByLabel(/^env /);
    await env.fill('{"FOO":"bb"}');
    await scrollToEnd(dialog);
    await expect.poll(() => allow.isEnabled(), READY).toBe(true);
    await env.fill('{"FOO":"cc",');
    await dialog.getByText('Invalid JSON').waitFor();
    expect(await allow.isEnabled()).toBe(false);
    await dialog.getByLabel(/^cwd /).fill('.');
    await dialog.locator('.approval-details').getByText('cwd').waitFor();
    expect(await allow.isEnabled()).toBe(false);
    await env.fill('{"FOO":"dd"}');
    await dialog.locator('.approval-details').getByText('dd').waitFor();
    await scrollToEnd(dialog);
    await expect.poll(() => allow.isEnabled(), READY).toBe(true);
  });

  test('[E17] an invalid number blocks the approval', LONG, async () => {
    const { dialog, allow, page } = await asked({ command: 'git push none', timeout: 5 });
    await expect.poll(() => allow.isEnabled(), READY).toBe(true);
    await editAs(dialog, 'Form');
    await dialog.getByLabel(/^timeout /).focus();
    await page.keyboard.press('End');
    await page.keyboard.type('e');
    await expect.poll(() => allow.isEnabled(), READY).toBe(false);
    await page.waitForTimeout(800);
    expect(await allow.isEnabled()).toBe(false);
  });

  test('a tool does not run with a broken field; a field that may be text takes it as text', LONG, async () => {
    const page = await app.open();
    const form = await openForm(page, 'bash');
    await form.getByLabel(/^command /).fill('pwd');
    await form.getByLabel(/^env /).fill('{"FOO":');
    const run = form.getByRole('button', { name: 'Run' });
    await expect.poll(() => run.isEnabled(), READY).toBe(false);
    await page.keyboard.press('Control+Enter');
    await form.getByRole('button', { name: 'Cancel' }).click();
    await callTool(page, 'grep', { pattern: 'one', include: '*.nothing' });
    await callCard(page, 'grep').getByText('Done').waitFor();
    const { items } = (await app.server.get('/v1/history')).body;
    expect(items[0]).toMatchObject({ tool: 'grep', args: { include: '*.nothing' } });
    expect(items.filter(({ args }: { args: { command?: string } }) => args.command === 'pwd')).toEqual([]);
  });

  test('[E17] arguments must be a JSON object, and another tab of the editor still works', LONG, async () => {
    const { dialog, allow } = await asked({ command: 'git push none' });
    await editAs(dialog, 'JSON');
    for (const text of ['', '[1]', 'null', '"x"']) {
      await dialog.getByLabel('JSON').fill(text);
      await dialog.getByText('The arguments must be a JSON object').waitFor();
      expect(await allow.isEnabled()).toBe(false);
    }
    await dialog.getByRole('tab', { name: 'Form' }).click();
    expect(await dialog.getByLabel(/^command /).inputValue()).toBe('git push none');
    await scrollToEnd(dialog);
    await expect.poll(() => allow.isEnabled(), READY).toBe(true);
  });
});

describe('an edited call', () => {
  test('[E17] must have been in view to its end as well', LONG, async () => {
    const command = Array.from({ length: 150 }, (_, index) => `# line ${index}`).join('\n');
    const { page, dialog, allow } = await asked({ command: `${command}\ngit push none` });
    await editAs(dialog, 'Form');
    const reviewed = page.waitForResponse(/\/review$/);
    await dialog.getByLabel(/^timeout /).fill('7');
    await reviewed;
    await page.waitForTimeout(700);
    expect(await allow.isEnabled()).toBe(false);
    await dialog.getByText('Scroll to the end before you allow this').waitFor();
    await scrollToEnd(dialog);
    await expect.poll(() => allow.isEnabled(), READY).toBe(true);
    await dialog.getByLabel(/^command /).fill(`${command}\ngit push other`);
    await dialog.getByText('Scroll to the end before you allow this').waitFor();
    expect(await allow.isEnabled()).toBe(false);
    await scrollToEnd(dialog);
    await allow.click();
    await dialog.waitFor({ state: 'detached' });
    const { items } = (await app.server.get('/v1/history?tool=bash&limit=1')).body;
    expect(items[0].args).toMatchObject({ command: `${command}\ngit push other`, timeout: 7 });
  });

  test('a long line is shown in more than one row', LONG, async () => {
    const { dialog } = await asked({ command: `git push ${'x'.repeat(400)}` });
    await editAs(dialog, 'Form');
    expect(Number(await dialog.getByLabel(/^command /).getAttribute('rows'))).toBeGreaterThan(3);
  });
});

describe('text typed in a request', () => {
  test('is not lost by one press of Escape', LONG, async () => {
    const { page, dialog } = await asked({ command: 'git push none' });
    await editAs(dialog, 'Form');
    const command = dialog.getByLabel(/^command /);
    await command.fill('git push other');
    await page.keyboard.press('Escape');
    await dialog.getByRole('alert').getByText('Discard what you have typed?').waitFor();
    await dialog.getByRole('button', { name: 'Keep editing' }).click();
    expect(await command.inputValue()).toBe('git push other');
    expect(await asksBeforeLeaving(page)).toBe(true);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await dialog.getByRole('button', { name: 'Discard' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await app.server.pending()).toHaveLength(1);
  });

  test('goes with a second press, and an empty dialog closes without asking', LONG, async () => {
    const { page, dialog } = await asked({ command: 'git push none' });
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await openQuestion(page);
    await dialog.getByRole('textbox').last().fill('Open a pull request.');
    await page.keyboard.press('Escape');
    await dialog.getByRole('alert').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await app.server.pending()).toHaveLength(1);
  });
});

test('a double click on Deny denies one request', LONG, async () => {
  const { approval: first } = await app.server.ask({ command: 'git push one' }, 'bash');
  const { approval: second } = await app.server.ask({ command: 'git push two' }, 'bash');
  const page = await app.open();
  const dock = page.getByRole('region', { name: 'Approvals' });
  await dock.getByText('2 waiting for your approval').waitFor();
  for (const { id } of [first, second]) {
    const deny = dock.locator(`[data-approval="${id}"]`).getByRole('button', { name: 'Deny' });
    await expect.poll(() => deny.isEnabled(), READY).toBe(true);
  }
  const place = await dock.locator('li').first().getByRole('button', { name: 'Deny' }).boundingBox();
  const last = await dock.locator('li').last().getByRole('button', { name: 'Deny' }).boundingBox();
  const answered = page.waitForResponse(/\/deny$/);
  await page.mouse.click((place?.x ?? 0) + 5, (place?.y ?? 0) + 5);
  await answered;
  await dock.getByText('1 waiting for your approval').waitFor();
  for (const at of [place, last]) await page.mouse.click((at?.x ?? 0) + 5, (at?.y ?? 0) + 5);
  await page.waitForTimeout(300);
  expect(await app.server.pending()).toHaveLength(1);
  const left = dock.getByRole('button', { name: 'Deny' });
  await expect.poll(() => left.isEnabled(), READY).toBe(true);
  await left.click();
  await dock.waitFor({ state: 'detached' });
});
