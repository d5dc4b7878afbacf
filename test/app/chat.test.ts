import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { callCard, callTool, closeBrowser, openQuestion, scrollToEnd, TestApp } from './browser.ts';

const LONG = { timeout: 120_000 };
/** Runs in the page. */
const colourOf = (phase: string) => `getComputedStyle(document.querySelector('[data-phase=${phase}]')).color`;
/** Runs in the page: whether it ever said that somebody else had answered. */
const WATCH_FOR_ANSWERED = `{
  window.__answered = false;
  new MutationObserver(() => { window.__answered ||= document.body.innerText.includes('Answered elsewhere'); })
    .observe(document.body, { subtree: true, childList: true, characterData: true });
}`;
let app: TestApp;

beforeAll(async () => {
  app = await TestApp.start();
}, LONG.timeout);
beforeEach(() => writeFileSync(join(app.server.workspace, 'a.txt'), 'one\n'));
afterEach(async () => {
  await app.closePages();
  for (const { id } of await app.server.pending()) await app.server.post(`/v1/approvals/${id}/deny`);
  expect(app.errors.splice(0)).toEqual([]);
  expect(app.strayRequests).toEqual([]);
}, LONG.timeout);
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await closeBrowser();
}, LONG.timeout);

/** The page on a session of its own. */
async function openChat(options: Parameters<TestApp['open']>[1] = {}): Promise<Page> {
  const { body } = await app.server.post('/v1/sessions');
  return app.open(`/chat/${body.id}`, options);
}
const file = () => readFileSync(join(app.server.workspace, 'a.txt'), 'utf8');

describe('the chat', () => {
  test('[D12] [D13] shows a call with its arguments, and its result by icon, word and colour', LONG, async () => {
    const page = await openChat();
    await callTool(page, 'read_file', { path: 'a.txt' });
    const good = callCard(page, 'read_file').first();
    await good.getByText('Done').waitFor();
    await good.getByRole('button', { expanded: false }).click();
    await good.getByText('a.txt', { exact: true }).first().waitFor();
    await good.getByText('one', { exact: true }).waitFor();
    const green = await page.evaluate(colourOf('done'));
    await callTool(page, 'read_file', { path: 'missing.txt' });
    const bad = callCard(page, 'missing.txt');
    await bad.getByText('Failed', { exact: true }).waitFor();
    await bad.getByText(/FILE_NOT_FOUND/).waitFor();
    const red = await page.evaluate(colourOf('failed'));
    expect(green).not.toBe(red);
    await app.shot(page, 'chat-results');
  });

  test('[D14] the demo shows its calls in order and then the summary', LONG, async () => {
    app.addDemo();
    const page = await openChat();
    await page.getByRole('button', { name: 'Watch the demo' }).click();
    await page.getByText('Demo: a scripted agent').waitFor();
    const dialog = await openQuestion(page);
    await dialog.locator('.approval-details > :last-child').scrollIntoViewIfNeeded();
    await dialog.getByRole('button', { name: 'Keep all' }).click();
    await page.getByText('The report is in', { exact: false }).waitFor();
    await app.shot(page, 'demo');
    const calls = await page.locator('section[data-call]').evaluateAll((cards) => cards.map((card) => card.ariaLabel));
    expect(calls.map((label) => label?.split(':')[0])).toEqual([
      'read_file',
      'list_directory',
      'bash',
      'read_file',
      'bash',
      'read_file',
    ]);
    // New files alone, as of the second command, are kept unasked.
    expect(await page.locator('[data-effect]').allTextContents()).toEqual([
      'exit 0 · 1 changed, 1 new · kept',
      'exit 0 · 1 new · kept',
    ]);
    expect(existsSync(join(app.server.workspace, 'reports/efficiency_report.md'))).toBe(true);
  });
});

describe('approvals', () => {
  test('[E17] a call waits, the dialog shows it in full, and an approval runs it', LONG, async () => {
    const page = await openChat();
    await callTool(page, 'write_file', { path: 'a.txt', content: 'one\ntwo\n' });
    await callCard(page, 'write_file').getByText('Waiting for you').waitFor();
    expect(file()).toBe('one\n');
    const dialog = await openQuestion(page);
    await dialog.locator('[data-diff]').getByText('+two').waitFor();
    await dialog.getByText('It would change a.txt.').first().waitFor();
    await app.shot(page, 'approval');
    await dialog.getByRole('button', { name: 'Allow once' }).click();
    await callCard(page, 'write_file').getByText('Done').waitFor();
    expect(file()).toBe('one\ntwo\n');
  });

  test('[E17] a call cannot be allowed before its end was in view', LONG, async () => {
    const page = await openChat({ viewport: { width: 800, height: 600 } });
    const lines = Array.from({ length: 60 }, (_, index) => `line ${index}`);
    await callTool(page, 'write_file', { path: 'a.txt', content: `${lines.join('\n')}\n` });
    const dialog = await openQuestion(page);
    await dialog.getByText('Scroll to the end before you allow this').waitFor();
    await page.waitForTimeout(700);
    const allow = dialog.getByRole('button', { name: 'Allow once' });
    expect(await allow.isEnabled()).toBe(false);
    await dialog.locator('.approval-details').hover();
    await page.mouse.wheel(0, 700);
    await dialog.locator('[data-diff]').getByText('+line 30').waitFor();
    await page.waitForTimeout(200);
    expect(await allow.isEnabled()).toBe(false);
    // It would scroll down by itself.
    expect(await dialog.getByRole('button', { name: 'Always allow …' }).isEnabled()).toBe(false);
    await page.mouse.wheel(0, 5000);
    await expect.poll(() => allow.isEnabled(), { timeout: 10_000 }).toBe(true);
  });

  test('[E17] a small edit is in view as a whole, and nothing covers it', LONG, async () => {
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index} of the file with some words`);
    writeFileSync(join(app.server.workspace, 'a.txt'), `${lines.join('\n')}\n`);
    const page = await openChat();
    const edits = [{ old: lines.slice(4, 7).join('\n'), new: 'new 4\nnew 5\nnew 6' }];
    await app.server.post('/v1/calls', { tool: 'edit_file', args: { path: 'a.txt', edits }, wait: false });
    const dialog = await openQuestion(page);
    const allow = dialog.getByRole('button', { name: 'Allow once' });
    await expect.poll(() => allow.isEnabled(), { timeout: 10_000 }).toBe(true);
    const details = await dialog.locator('.approval-details').boundingBox();
    const answer = await allow.boundingBox();
    expect((details?.y ?? 0) + (details?.height ?? 0)).toBeLessThan(answer?.y ?? 0);
  });

  test(
    '[E17] a long argument name leaves its value in view, and invisible characters in it are shown',
    LONG,
    async () => {
      const page = await openChat();
      await page.route('**/v1/approvals/*', async (route) => {
        const response = await route.fetch();
        const args = { [`note\u202e${'x'.repeat(400)}`]: 'the value' };
        const preview = [{ kind: 'text', text: 'a long preview', truncated: true }];
        await route.fulfill({ json: { ...(await response.json()), preview, args } });
      });
      await callTool(page, 'write_file', { path: 'a.txt', content: 'x' });
      const dialog = await openQuestion(page);
      const value = await dialog.getByText('the value', { exact: true }).boundingBox();
      const frame = await dialog.boundingBox();
      expect((value?.x ?? 0) + (value?.width ?? 0)).toBeLessThan((frame?.x ?? 0) + (frame?.width ?? 0));
      expect(value?.width).toBeGreaterThan(100);
      await dialog.locator('dt').getByText('U+202E').waitFor();
      await dialog.getByText('Shortened here').waitFor();
      await page.unrouteAll({ behavior: 'ignoreErrors' });
    },
  );

  test('[E17] edited arguments run, and the card says which were changed', LONG, async () => {
    const page = await openChat();
    await callTool(page, 'write_file', { path: 'a.txt', content: 'theirs\n' });
    const dialog = await openQuestion(page);
    await dialog.getByRole('button', { name: 'Edit' }).click();
    await dialog.getByRole('tab', { name: 'Form' }).click();
    await dialog.getByLabel(/^content /).fill('mine\n');
    await dialog.locator('[data-diff]').getByText('+mine').waitFor({ state: 'attached' });
    await scrollToEnd(dialog);
    await dialog.getByRole('button', { name: 'Allow with my changes' }).click();
    const card = callCard(page, 'write_file');
    await card.getByText('Done').waitFor();
    expect(file()).toBe('mine\n');
    await dialog.waitFor({ state: 'detached' });
    await card.getByRole('button', { expanded: false }).click();
    await card.getByText('Changed by you: content').waitFor();
  });

  test('[E17] a hunk that is rejected in the diff is not written', LONG, async () => {
    const page = await openChat();
    await callTool(page, 'write_file', { path: 'a.txt', content: 'one\nunwanted\n' });
    const dialog = await openQuestion(page);
    await dialog.getByRole('button', { name: 'Edit' }).click();
    await dialog.getByRole('tab', { name: 'Changes' }).click();
    await dialog.getByRole('button', { name: 'Reject' }).click();
    await dialog.getByRole('button', { name: 'Allow with my changes' }).click();
    await callCard(page, 'write_file').getByText('Done').waitFor();
    expect(file()).toBe('one\n');
  });

  test(
    '[E17] arguments no longer on the page do not run: a discarded edit, or one made in another tab of the dialog',
    LONG,
    async () => {
      const page = await openChat();
      await callTool(page, 'write_file', { path: 'a.txt', content: 'theirs\n' });
      const dialog = await openQuestion(page);
      const edit = dialog.getByRole('button', { name: 'Edit', exact: true });
      const allow = dialog.getByRole('button', { name: /^Allow/ }).last();
      await edit.click();
      await dialog.getByRole('tab', { name: 'JSON' }).click();
      await dialog.getByLabel('JSON').fill('{ "path": ');
      await expect.poll(() => allow.isEnabled()).toBe(false);
      await dialog.getByRole('tab', { name: 'Form' }).click();
      await dialog.getByLabel(/^content /).fill('mine\n');
      await dialog.locator('[data-diff]').getByText('+mine').waitFor({ state: 'attached' });
      await scrollToEnd(dialog);
      await dialog.getByRole('button', { name: 'Allow with my changes' }).waitFor();
      await expect.poll(() => allow.isEnabled(), { timeout: 10_000 }).toBe(true);
      await dialog.getByRole('tab', { name: 'Changes' }).click();
      await dialog.locator('.cm-content').getByText('theirs', { exact: true }).waitFor();
      expect(await allow.textContent()).toBe('Allow once');
      await dialog.getByRole('tab', { name: 'Form' }).click();
      await dialog.getByLabel(/^content /).fill('hidden\n');
      await dialog.getByRole('button', { name: 'Allow with my changes' }).waitFor();
      await edit.click();
      await dialog.locator('[data-diff]').getByText('+theirs').waitFor();
      expect(await allow.textContent()).toBe('Allow once');
      await allow.click();
      await callCard(page, 'write_file').getByText('Done').waitFor();
      expect(file()).toBe('theirs\n');
      expect(await page.getByText('Answered elsewhere').count()).toBe(0);
    },
  );

  test(
    '[E17] the last keystrokes of an edit count, and an own answer is not shown as another person’s',
    LONG,
    async () => {
      const page = await openChat();
      await callTool(page, 'write_file', { path: 'a.txt', content: 'theirs\n' });
      const dialog = await openQuestion(page);
      await page.evaluate(WATCH_FOR_ANSWERED);
      await dialog.getByRole('button', { name: 'Edit', exact: true }).click();
      const text = dialog.locator('.cm-content');
      await text.getByText('theirs').click();
      await page.keyboard.press('Control+End');
      const allow = dialog.getByRole('button', { name: /^Allow/ }).last();
      await page.keyboard.type('and mine');
      expect(await allow.isEnabled()).toBe(false);
      await page.keyboard.press('Control+Enter');
      await dialog.getByRole('button', { name: 'Allow with my changes' }).click();
      await dialog.waitFor({ state: 'detached' });
      await callCard(page, 'write_file').getByText('Done').waitFor();
      expect(file()).toBe('theirs\nand mine');
      expect(await page.evaluate('window.__answered')).toBe(false);
    },
  );

  test('[E17] a denial reaches the call with the message of the person', LONG, async () => {
    const page = await openChat();
    await callTool(page, 'write_file', { path: 'a.txt', content: 'x' });
    const dialog = await openQuestion(page);
    const allow = dialog.getByRole('button', { name: 'Allow once' });
    await expect.poll(() => allow.isEnabled(), { timeout: 10_000 }).toBe(true);
    await dialog.getByLabel('Tell the agent why (sent with Deny)').fill('use another file');
    // Says yes only where there are no words for a no.
    await page.keyboard.press('Control+Enter');
    await dialog.getByRole('button', { name: 'Deny' }).click();
    await callCard(page, 'write_file').getByText('Denied', { exact: true }).waitFor();
    expect(file()).toBe('one\n');
    const { body } = await app.server.get('/v1/history?tool=write_file');
    expect(body.items[0].outcome.error.message).toContain('use another file');
  });

  test('a request answered in another tab is shown as answered', LONG, async () => {
    const here = await openChat();
    await callTool(here, 'write_file', { path: 'a.txt', content: 'x' });
    const dialog = await openQuestion(here);
    const there = await app.open();
    await (await openQuestion(there)).getByRole('button', { name: 'Deny' }).click();
    await dialog.getByText(/Answered elsewhere by .*: denied/).waitFor();
    await here.keyboard.press('Escape');
    const { call } = await app.server.ask();
    await openQuestion(here);
    await app.server.post(`/v1/calls/${call.id}/cancel`);
    await dialog.getByText('No answer is needed any more').waitFor();
  });

  test(
    '[E17] a request survives a restart of the server, its answer counts, and an editor checks the disk again',
    LONG,
    async () => {
      writeFileSync(join(app.server.workspace, 'b.txt'), 'before\n');
      const page = await openChat();
      await callTool(page, 'write_file', { path: 'a.txt', content: 'after the restart\n' });
      await callCard(page, 'write_file').getByText('Waiting for you').waitFor();
      const editor = await app.open('/files/b.txt');
      await editor.getByText('before', { exact: true }).waitFor();
      await app.server.stop();
      await page.getByText('Connection lost').waitFor();
      writeFileSync(join(app.server.workspace, 'b.txt'), 'while nobody listened\n');
      await app.server.start();
      await editor.getByText('while nobody listened', { exact: true }).waitFor();
      await page.getByText('Connected', { exact: true }).waitFor();
      const dialog = await openQuestion(page);
      await dialog.getByRole('button', { name: 'Allow once' }).click();
      await expect.poll(file, { timeout: 30_000 }).toBe('after the restart\n');
      // The line was down for a while, and the browser logs that by itself.
      app.errors.length = 0;
    },
  );

  test('nothing fires in the first half second, and the composer keeps the focus', LONG, async () => {
    const page = await openChat();
    await page.locator('#composer').focus();
    const { body } = await app.server.post('/v1/sessions');
    const args = { path: 'a.txt', content: 'x' };
    await app.server.post('/v1/calls', { tool: 'write_file', args, session: body.id, wait: false });
    const deny = page.getByRole('region', { name: 'Approvals' }).getByRole('button', { name: 'Deny' });
    await deny.waitFor();
    expect(await page.evaluate('document.activeElement.id')).toBe('composer');
    await expect.poll(() => deny.isEnabled(), { timeout: 10_000 }).toBe(true);
  });
});

test('Enter inside an input method does not send the message', LONG, async () => {
  const page = await openChat({ locale: 'zh-CN' });
  const composer = page.locator('#composer');
  await composer.fill('你好');
  await composer.dispatchEvent('keydown', { key: 'Enter', isComposing: true });
  expect(await composer.inputValue()).toBe('你好');
  await page.getByText('手动模式', { exact: false }).first().waitFor();
});
