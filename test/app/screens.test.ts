import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { callCard, callTool, closeBrowser, openForm, openQuestion, TestApp } from './browser.ts';

const LONG = { timeout: 120_000 };
let app: TestApp;

beforeEach(async () => {
  app = await TestApp.start({ flags: { allow: 'write_file,bash(touch *)' } });
}, LONG.timeout);
afterEach(async () => {
  const { errors, strayRequests } = app;
  await app[Symbol.asyncDispose]();
  expect(errors).toEqual([]);
  expect(strayRequests).toEqual([]);
}, LONG.timeout);
afterAll(closeBrowser);

const path = (name: string) => join(app.server.workspace, name);

async function call(tool: string, args: Record<string, unknown>): Promise<{ state: string; outcome: unknown }> {
  return (await app.server.post('/v1/calls', { tool, args })).body;
}

describe('files', () => {
  test('[D04] a file that a tool, a command or another program makes appears by itself', LONG, async () => {
    const page = await app.open('/files');
    const tree = page.getByRole('tree');
    await tree.getByText('a.txt').waitFor();
    await call('write_file', { path: 'made/by-tool.txt', content: 'x' });
    await tree.getByText('made').click();
    await tree.getByText('by-tool.txt').waitFor();
    await call('bash', { command: 'touch made/by-command.txt' });
    await tree.getByText('by-command.txt').waitFor();
    writeFileSync(path('by-hand.txt'), 'x');
    await tree.getByText('by-hand.txt').waitFor();
    await app.shot(page, 'files');
  });

  test('[D05] an open editor follows the file and says who changed it', LONG, async () => {
    const page = await app.open('/files/a.txt');
    await page.getByText('one', { exact: true }).waitFor();
    await call('write_file', { path: 'a.txt', content: 'changed by a tool\n' });
    await page.getByText(/a\.txt was changed on disk by write_file/).waitFor();
    await page.getByText('changed by a tool', { exact: true }).waitFor();
    writeFileSync(path('a.txt'), 'changed by hand\n');
    await page.getByText('changed by hand', { exact: true }).waitFor();
  });

  test('[D05] with unsaved text a person chooses: keep mine, take theirs, compare', LONG, async () => {
    const page = await app.open('/files/a.txt');
    await type(page, 'mine ');
    writeFileSync(path('a.txt'), 'theirs\n');
    const notice = page.getByRole('alert').filter({ hasText: 'was changed on disk' });
    await notice.getByText(/another program/).waitFor();
    await notice.getByRole('button', { name: 'Compare' }).click();
    await page.getByRole('dialog').getByText('theirs', { exact: true }).waitFor();
    await app.shot(page, 'editor-conflict');
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await notice.getByRole('button', { name: 'Keep mine' }).click();
    await expect.poll(() => readFileSync(path('a.txt'), 'utf8'), { timeout: 20_000 }).toBe('mine one\n');

    await type(page, 'again ');
    writeFileSync(path('a.txt'), 'theirs twice\n');
    await notice.getByRole('button', { name: 'Take theirs' }).click();
    await page.getByText('theirs twice', { exact: true }).waitFor();
    expect(readFileSync(path('a.txt'), 'utf8')).toBe('theirs twice\n');

    await type(page, 'kept ');
    rmSync(path('a.txt'));
    const gone = page.getByRole('alert').filter({ hasText: 'was deleted' });
    await gone.getByRole('button', { name: 'Keep mine' }).click();
    await gone.waitFor({ state: 'detached' });
    expect(readFileSync(path('a.txt'), 'utf8')).toBe('kept theirs twice\n');
    // That it was gone is logged by the browser itself.
    expect(app.errors.splice(0).every((text) => text.includes('404'))).toBe(true);
  });

  test(
    'a save keeps every byte that was not touched, and a tab with unsaved text asks before it closes',
    LONG,
    async () => {
      writeFileSync(path('crlf.txt'), 'one\r\ntwo\r\n');
      const page = await app.open('/files/crlf.txt');
      await type(page, 'x');
      await lookElsewhere(page, 'crlf.txt');
      await page.getByText('xone', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Close crlf.txt' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Keep editing' }).click();
      await page.keyboard.press('Escape');
      await saveTwice(page, () => type(page, 'y'));
      await page.getByText('Saved', { exact: true }).waitFor();
      await expect.poll(() => readFileSync(path('crlf.txt'), 'utf8'), { timeout: 10_000 }).toBe('yxone\r\ntwo\r\n');
    },
  );

  test('a name is searched for in the whole tree', LONG, async () => {
    mkdirSync(path('deep/down'), { recursive: true });
    writeFileSync(path('deep/down/needle.ts'), 'const a = 1;\n');
    const page = await app.open('/files');
    await page.getByRole('searchbox').fill('needle');
    await page.getByRole('button', { name: 'deep/down/needle.ts' }).click();
    await page.getByText('const', { exact: true }).waitFor();
  });
});

describe('tools', () => {
  test('[C19] [C20] are listed with their state; one that is switched off is refused', LONG, async () => {
    const page = await app.open('/tools');
    const row = page.getByRole('row', { name: /read_file/ });
    await row.getByText('built-in').waitFor();
    await app.shot(page, 'tools');
    await page.getByRole('switch', { name: 'Switch read_file off' }).click();
    await page.getByRole('switch', { name: 'Switch read_file on' }).waitFor();
    const refused = await call('read_file', { path: 'a.txt' });
    expect(refused).toMatchObject({ state: 'failed', outcome: { error: { code: 'TOOL_DISABLED' } } });
    await page.getByRole('switch', { name: 'Switch read_file on' }).click();
    await page.getByRole('switch', { name: 'Switch read_file off' }).waitFor();
    expect(await call('read_file', { path: 'a.txt' })).toMatchObject({ state: 'succeeded' });
  });

  test('[C19] only an admin can switch', LONG, async () => {
    const page = await app.open('/tools', { token: await app.server.tokenFor('vera', 'viewer') });
    const control = page.getByRole('switch', { name: 'Switch read_file off' });
    await control.waitFor();
    expect(await control.isDisabled()).toBe(true);
  });

  test('one shows its schema in every format, and can be tried', LONG, async () => {
    const page = await app.open('/tools/read_file');
    await page.getByLabel('Schema', { exact: true }).first().waitFor();
    for (const format of ['openai-responses', 'anthropic', 'json-schema']) {
      await page.getByRole('combobox', { name: 'Schema' }).selectOption(format);
      await page.getByText('"path"').first().waitFor();
    }
    await page.getByRole('button', { name: 'Try it' }).click();
    await page.getByLabel(/^path /).fill('a.txt');
    await page.getByRole('button', { name: 'Run' }).dblclick();
    await callCard(page, 'read_file').getByText('Done').waitFor();
    expect((await app.server.get('/v1/history?tool=read_file')).body.items).toHaveLength(1);
  });
});

test('history has filters, the person who decided, an address for each call, and updates by itself', LONG, async () => {
  await call('read_file', { path: 'a.txt' });
  const page = await app.open('/history');
  await page.getByRole('row').nth(1).waitFor();
  await call('read_file', { path: 'missing' });
  const { approval } = await app.server.ask({ command: 'git push' }, 'bash');
  const asked = page.getByRole('row', { name: 'git push' });
  await asked.getByText('Waiting for you').waitFor();
  await app.server.post(`/v1/approvals/${approval.id}/deny`, {}, await app.server.tokenFor('ana', 'approver'));
  await asked.getByText('Denied').waitFor();
  await asked.getByText('ana', { exact: true }).waitFor();
  await page.getByRole('combobox', { name: 'Outcome' }).selectOption('failed');
  await expect.poll(() => page.getByRole('row').count(), { timeout: 10_000 }).toBe(2);
  await app.shot(page, 'history');
  await page.getByRole('button', { name: 'read_file' }).click();
  await page.getByText(/FILE_NOT_FOUND/).waitFor();
  expect(page.url()).toMatch(/\/history\/\w+/);
});

test('everything works in Chinese, on a phone, and by keyboard alone', LONG, async () => {
  const data = { workspace: 'elsewhere-0', title: 'of another workspace', agent: null, by: null };
  await app.server.host.ledger.note('there', { type: 'session.created', callId: null, at: Date.now(), data });
  const page = await app.open('/', { locale: 'zh-CN', viewport: { width: 390, height: 800 } });
  await page.getByText('从哪里开始？').waitFor();
  await app.shot(page, 'phone-zh');
  await page.getByTitle('模型', { exact: true }).click();
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('#composer').focus();
  await page.keyboard.type('/');
  const picker = page.getByRole('list', { name: '工具' });
  await picker.getByRole('button').first().waitFor();
  for (let times = 0; times < 12; times++) await page.keyboard.press('ArrowDown');
  const entry = await page.locator('#composer').getAttribute('aria-activedescendant');
  const chosen = await page.locator(`#${entry}`).boundingBox();
  const frame = await picker.boundingBox();
  expect((chosen?.y ?? 0) + (chosen?.height ?? 0)).toBeLessThanOrEqual((frame?.y ?? 0) + (frame?.height ?? 0));
  // Keys that are pressed elsewhere are not the list's.
  await page.locator('#content').focus();
  await page.keyboard.press('Enter');
  expect(await page.locator('#composer').inputValue()).toBe('/');
  await page.locator('#composer').focus();
  await page.keyboard.type('read_f');
  await page.keyboard.press('Enter');
  await page.getByRole('form', { name: 'read_file' }).waitFor();
  await expect
    .poll(() => page.evaluate('document.activeElement.form?.ariaLabel'), { timeout: 10_000 })
    .toBe('read_file');
  await page.keyboard.type('a.txt');
  await page.keyboard.press('Control+Enter');
  await callCard(page, 'read_file').getByText('完成').waitFor();
  const known = await page.getByRole('combobox', { name: '会话' }).getByRole('option').allTextContents();
  expect(known).toHaveLength(1);
  expect(known).not.toContain('of another workspace');
  const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  expect(overflow).toBe(0);
  await callTool(page, 'read_file', { path: '../b.txt' });
  const why = '拒绝访问：../b.txt 在工作区之外。';
  await page.getByText(why).waitFor();
  const { body } = await app.server.get('/v1/history?limit=1');
  await (await app.open(`/history/${body.items[0].id}`, { locale: 'zh-CN' })).getByText(why).waitFor();
  await callTool(page, 'bash', { command: 'git push' });
  await page.getByRole('region', { name: '审批' }).getByRole('button', { name: '打开' }).click();
  await page.getByRole('dialog').getByText('git push 会使用网络。').first().waitFor();
});

test('with a token that the server does not know the page says where the right one is', LONG, async () => {
  const page = await app.open('/', { token: 'not-one', locale: 'zh-CN' });
  await page.getByRole('alert').getByText('服务器不接受此令牌。请打开服务器启动时打印的地址。').waitFor();
  expect(app.errors.splice(0).every((text) => text.includes('401'))).toBe(true);
});

test('a part of the page that cannot be loaded says so, and the rest stays', LONG, async () => {
  const page = await app.open('/');
  await page.getByText('Connected', { exact: true }).waitFor();
  await page.route('**/v1/sessions', (route) => route.abort());
  await page.getByRole('button', { name: 'New session' }).click();
  await page.getByRole('alert').getByText('The server does not answer').waitFor();
  await page.route('**/assets/history-screen-*.js', (route) => route.abort());
  const history = page.getByRole('navigation').getByText('History');
  await history.click();
  await page.getByRole('alert').getByText('could not be loaded').waitFor();
  await page.getByRole('navigation').getByText('Chat').click();
  await page.getByText('How do you want to start?').waitFor();
  await page.unroute('**/assets/history-screen-*.js');
  await history.click();
  await page.getByRole('button', { name: 'Reload' }).click();
  await page.getByRole('heading', { name: 'History' }).waitFor();
  expect(app.errors.splice(0).join('\n')).toContain('history-screen');
});

test.each(['/', '/files/a.txt', '/tools', '/history'])(
  'axe finds nothing on %s, in light and in dark',
  LONG,
  async (place) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await app.open(place, { colorScheme });
      await page.getByText('Connected', { exact: true }).waitFor();
      if (place === '/') await waitingCall(page);
      await page.waitForTimeout(500);
      const { violations } = await new AxeBuilder({ page: page as never }).analyze();
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
      await app.shot(page, `${place.replaceAll('/', '-')}-${colorScheme}`);
    }
  },
);

/** A chat with a finished call and an open question in front of it. */
async function waitingCall(page: Page): Promise<void> {
  await callTool(page, 'read_file', { path: 'a.txt' });
  await callTool(page, 'bash', { command: 'git push' });
  await openQuestion(page);
}

/** Begins a call in the chat and comes back; the form waits there as it was left. */
async function lookElsewhere(page: Page, tab: string): Promise<void> {
  const screens = page.getByRole('navigation', { name: 'Toolwright' });
  await screens.getByText('Chat').click();
  const path = (await openForm(page, 'read_file')).getByLabel(/^path /);
  await path.fill('half a na');
  await screens.getByText('Files').click();
  await screens.getByText('Chat').click();
  expect(await path.inputValue()).toBe('half a na');
  await screens.getByText('Files').click();
  await page.getByRole('navigation', { name: 'Open files' }).getByText(tab).click();
}

/** The second save is asked for before the first is answered. */
async function saveTwice(page: Page, change: () => Promise<void>): Promise<void> {
  const address = '**/v1/files/content*';
  let answerFirst = () => {};
  const changed = new Promise<void>((resolve) => {
    answerFirst = resolve;
  });
  await page.route(address, async (route) => {
    if (route.request().method() === 'PUT') await changed;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Save' }).click();
  await change();
  await page.keyboard.press('Control+s');
  answerFirst();
}

async function type(page: Page, text: string): Promise<void> {
  await page.locator('.cm-content').first().click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.type(text);
}
