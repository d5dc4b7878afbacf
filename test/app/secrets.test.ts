import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createSessionRunner } from '../../src/app/agent/session-runner.ts';
import { type ModelServer, modelServer, type RawReply } from '../../src/testing/model-server.ts';
import { anthropicReply } from '../../src/testing/wire-turn.ts';
import { callCard, callTool, closeBrowser, TestApp } from './browser.ts';

const LONG = { timeout: 120_000 };
const SOON = { timeout: 20_000 };
const TOKEN = `ghp_${'q7Tz9bLw2Kd3'.repeat(3)}`;
let app: TestApp;
let model: ModelServer;
let reply: () => RawReply | Promise<RawReply>;

beforeAll(async () => {
  model = await modelServer(() => reply());
  const env = {
    PATH: process.env.PATH ?? '',
    TOOLWRIGHT_PROVIDER: 'anthropic',
    TOOLWRIGHT_MODEL_BASE_URL: model.url,
    ANTHROPIC_API_KEY: 'key',
  };
  app = await TestApp.start({ env, runner: (parts) => createSessionRunner(parts, env) });
}, LONG.timeout);
beforeEach(() => {
  writeFileSync(join(app.server.workspace, '.env'), `API_TOKEN=${TOKEN}\n`);
});
afterEach(async () => {
  await app.closePages();
  for (const { id } of (await app.server.get('/v1/paths')).body.items)
    await app.server.send('DELETE', `/v1/paths/${id}`);
  // That the server refused something is logged by the browser itself.
  expect(app.errors.splice(0).filter((text) => !/status of 403/.test(text))).toEqual([]);
}, LONG.timeout);
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
  await closeBrowser();
}, LONG.timeout);

/** The page on a session of its own. */
async function openChat(options: Parameters<TestApp['open']>[1] = {}): Promise<{ page: Page; session: string }> {
  const { body } = await app.server.post('/v1/sessions', { title: `Session ${Math.random()}` });
  const page = await app.open(`/chat/${body.id}`, options);
  await page.getByRole('option', { name: body.title }).waitFor({ state: 'attached' });
  return { page, session: body.id };
}

function offer(page: Page): Locator {
  return page.getByRole('group', { name: 'Decisions about .env' });
}

/** Its buttons wake up after half a second. */
async function choose(page: Page, name: string): Promise<void> {
  await offer(page).locator(`button:not([aria-disabled="true"])`, { hasText: name }).first().click();
}

async function decisions(): Promise<unknown[]> {
  return (await app.server.get('/v1/paths')).body.items.map(({ path, kind, by }: Record<string, unknown>) => [
    path,
    kind,
    by,
  ]);
}

async function call(session: string, tool: string, args: object) {
  return (await app.server.post('/v1/calls', { session, tool, args })).body;
}

async function expectNoViolations(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page: page as never }).analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
}

test(
  'a path that is freed on the card of a call is free for the next call of a running agent, until it is taken back',
  LONG,
  async () => {
    let freed = () => {};
    const isFreed = new Promise<void>((resolve) => {
      freed = resolve;
    });
    const calls = [{ name: 'read_file', args: { path: '.env' } }];
    const turns: (() => RawReply | Promise<RawReply>)[] = [
      () => anthropicReply({ calls }, 1),
      () => isFreed.then(() => anthropicReply({ calls }, 2)),
      () => anthropicReply({ text: 'I have read it.' }),
      () => anthropicReply({ calls }, 3),
    ];
    reply = () => (turns.shift() ?? (() => anthropicReply({ text: 'Something else.' })))();
    const { page } = await openChat();
    await page.locator('#composer').fill('What is in .env?');
    await page.locator('#composer').press('Enter');
    await callCard(page, 'read_file').getByText('Denied', { exact: true }).waitFor();
    await offer(page).getByText('so a model may read it').waitFor();
    await choose(page, 'It is no secret');
    await offer(page)
      .getByText(/^Declared no secret by owner/)
      .waitFor();
    expect(await decisions()).toEqual([['.env', 'no-secret', 'owner']]);
    freed();
    await callCard(page, 'read_file').getByText('Done').waitFor();
    await page.getByText('I have read it.').waitFor();
    await offer(page).getByRole('button', { name: 'Take back' }).click();
    await offer(page).getByRole('button', { name: 'It is no secret' }).waitFor();
    await page.locator('#composer').fill('Read it again.');
    await page.locator('#composer').press('Enter');
    await expect.poll(() => page.locator('[data-phase=denied]').count(), SOON).toBe(2);
  },
);

test(
  'a path that is free for commands stays refused for file tools; taken back from the list it is kept again',
  LONG,
  async () => {
    const { page, session } = await openChat();
    await callTool(page, 'bash', { command: 'cat .env' });
    await offer(page).getByText('Commands see it').waitFor();
    await expectNoViolations(page);
    await app.shot(page, 'secret-card');
    await page.waitForTimeout(600);
    await offer(page).getByRole('button', { name: 'Free for commands' }).focus();
    await page.keyboard.press('Enter');
    await offer(page)
      .getByText(/^Freed for commands by owner/)
      .waitFor();
    await page.keyboard.press('Tab');
    await expect.poll(() => page.evaluate('document.activeElement.ariaLabel'), SOON).toBe('Take back: .env');
    expect(await call(session, 'bash', { command: 'wc -c < .env' })).toMatchObject({
      state: 'succeeded',
      outcome: { value: { exitCode: 0 } },
    });
    expect(await call(session, 'read_file', { path: '.env' })).toMatchObject({ state: 'denied' });
    await page.getByRole('banner').getByRole('button', { name: 'project' }).focus();
    await page.keyboard.press('Enter');
    const list = page.getByRole('dialog', { name: 'Decisions about paths' });
    await list.getByText('.env', { exact: true }).waitFor();
    await list.getByText(/^Freed for commands by owner/).waitFor();
    await expectNoViolations(page);
    await app.shot(page, 'path-decisions');
    await list.getByRole('button', { name: 'Take back: .env' }).focus();
    await page.keyboard.press('Enter');
    await list.getByText('None.').waitFor();
    expect(await decisions()).toEqual([]);
    expect(await call(session, 'bash', { command: 'cat .env' })).toMatchObject({ state: 'denied' });
  },
);

test('a decision of another door shows by itself, and who may not decide is told so', LONG, async () => {
  const { session } = await openChat();
  await call(session, 'read_file', { path: '.env' });
  const page = await app.open(`/chat/${session}`, { token: await app.server.tokenFor('vera', 'viewer') });
  await offer(page).getByText('Only an admin can change this.').waitFor();
  expect(await offer(page).getByRole('button').count()).toBe(0);
  const ana = await app.server.tokenFor('ana', 'admin');
  await app.server.post('/v1/paths', { path: '.env', kind: 'no-secret' }, ana);
  await offer(page)
    .getByText(/^Declared no secret by ana/)
    .waitFor();
  expect(await page.getByRole('button', { name: 'Take back' }).count()).toBe(0);
  const { body } = await app.server.get(`/v1/history?session=${session}`);
  await page.goto(`${app.server.running.url}/history/${body.items[0].id}`);
  await offer(page)
    .getByText(/^Declared no secret by ana/)
    .waitFor();
});

test(
  'a secret is shown to its owner after a question, read-only, until they leave it; the record has no content',
  LONG,
  async () => {
    const page = await app.open('/files/.env');
    await page.getByText(/is a sensitive file/).waitFor();
    expect(await page.locator('.cm-content').count()).toBe(0);
    await expectNoViolations(page);
    await app.shot(page, 'secret-file');
    await page.getByRole('button', { name: 'Show it to me' }).click();
    const dialog = page.getByRole('dialog', { name: 'Show .env to you?' });
    await dialog.getByText('No tool and no model gets it.').waitFor();
    await app.shot(page, 'secret-question');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect((await app.server.get('/v1/history?tool=person:read-secret')).body.items).toEqual([]);
    await page.getByRole('button', { name: 'Show it to me' }).click();
    await dialog.getByRole('button', { name: 'Show it', exact: true }).click();
    await page.getByText('Secret, shown only to you').waitFor();
    await page.locator('.cm-line').getByText(TOKEN).waitFor();
    await page.locator('.cm-content').click();
    await page.keyboard.type('typed');
    await page.keyboard.press('Control+s');
    expect(await page.locator('.cm-line').first().textContent()).toBe(`API_TOKEN=${TOKEN}`);
    await expectNoViolations(page);
    await app.shot(page, 'secret-shown');
    const { body } = await app.server.get('/v1/history?tool=person:read-secret');
    expect(body.items).toMatchObject([{ args: { by: 'owner', path: '.env' }, state: 'succeeded' }]);
    expect(JSON.stringify(await app.server.host.ledger.log(0, 1000))).not.toContain(TOKEN);
    expect(await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')).not.toContain(TOKEN);
    const screens = page.getByRole('navigation', { name: 'Toolwright' });
    await screens.getByText('Chat').click();
    await screens.getByText('Files').click();
    await page.getByRole('button', { name: 'Show it to me' }).waitFor();
    expect(await page.getByText(TOKEN).count()).toBe(0);
  },
);

test('a file that is freed in the editor opens there, and closes again when that is taken back', LONG, async () => {
  mkdirSync(join(app.server.workspace, 'fixtures'), { recursive: true });
  writeFileSync(join(app.server.workspace, 'fixtures/token.txt'), `made up: ${TOKEN}\n`);
  const page = await app.open('/files/fixtures%2Ftoken.txt');
  const region = page.getByRole('group', { name: 'Decisions about fixtures/token.txt' });
  await region.locator('button:not([aria-disabled="true"])', { hasText: 'It is no secret' }).click();
  await page.getByText(`made up: ${TOKEN}`).waitFor();
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.type('mine ');
  const [made] = (await app.server.get('/v1/paths')).body.items;
  await app.server.send('DELETE', `/v1/paths/${made.id}`);
  await page.getByRole('banner').getByRole('button', { name: 'project' }).click();
  await page.getByRole('dialog').getByText('None.').waitFor();
  await page.keyboard.press('Escape');
  // Nothing typed is lost.
  await page.getByText(`mine made up: ${TOKEN}`).waitFor();
  await page.getByRole('button', { name: 'Close fixtures/token.txt' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
  await page.getByRole('tree').getByText('fixtures').click();
  await page.getByRole('tree').getByText('token.txt').click();
  await region.waitFor();
  expect(await page.getByText(TOKEN).count()).toBe(0);
  rmSync(join(app.server.workspace, 'fixtures'), { recursive: true });
});

test.each(['light', 'dark'] as const)(
  'on a phone, in Chinese and %s, all of it is there',
  LONG,
  async (colorScheme) => {
    const options = { locale: 'zh-CN', viewport: { width: 390, height: 800 }, colorScheme };
    const { page } = await openChat(options);
    await callTool(page, 'read_file', { path: '.env' });
    const region = page.getByRole('group', { name: '关于 .env 的决定' });
    await region.getByText('因此模型可能会读到它').waitFor();
    await expectNoViolations(page);
    await app.shot(page, `secret-card-phone-zh-${colorScheme}`);
    await region.locator('button:not([aria-disabled="true"])', { hasText: '只给命令使用' }).click();
    await region.getByText(/^owner 已允许命令使用/).waitFor();
    await page.getByRole('banner').getByRole('button', { name: 'project' }).click();
    await page.getByRole('dialog', { name: '关于路径的决定' }).getByText('.env', { exact: true }).waitFor();
    await app.shot(page, `path-decisions-phone-zh-${colorScheme}`);
    await page.keyboard.press('Escape');
    await page.goto(`${app.server.running.url}/files/.env`);
    await page.getByRole('button', { name: '给我看' }).click();
    await page.getByRole('dialog').getByRole('button', { name: '显示', exact: true }).click();
    await page.getByText('机密，只显示给你').waitFor();
    await expectNoViolations(page);
    await app.shot(page, `secret-shown-phone-zh-${colorScheme}`);
    const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    expect(overflow).toBe(0);
  },
);
