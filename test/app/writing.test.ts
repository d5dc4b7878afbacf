import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createSessionRunner } from '../../src/app/agent/session-runner.ts';
import { type ModelServer, modelServer, type RawReply } from '../../src/testing/model-server.ts';
import { anthropicEvents, anthropicReply } from '../../src/testing/wire-turn.ts';
import { asksBeforeLeaving, closeBrowser, openForm, TestApp } from './browser.ts';

const LONG = { timeout: 120_000 };
const SOON = { timeout: 20_000 };
let app: TestApp;
let model: ModelServer;
let opened = 0;
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
afterEach(async () => {
  await app.closePages();
  // That a line was down, or the server refused something, is logged by the browser itself.
  expect(app.errors.splice(0).filter((text) => !/status of 4\d\d|net::ERR/.test(text))).toEqual([]);
}, LONG.timeout);
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
  await closeBrowser();
}, LONG.timeout);

const answer = (text: string) => () => anthropicReply({ text });

/** Something to wait for, and how it comes. */
function gate(): { readonly opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** The page on a session of its own, once it knows of it. */
async function openChat(): Promise<Page> {
  const title = `Session ${++opened}`;
  const { body } = await app.server.post('/v1/sessions', { title });
  const page = await app.open(`/chat/${body.id}`);
  await page.getByRole('option', { name: title }).waitFor({ state: 'attached' });
  return page;
}

async function say(page: Page, text: string): Promise<void> {
  await page.locator('#composer').fill(text);
  await page.locator('#composer').press('Enter');
}

async function messagesOf(page: Page): Promise<string[]> {
  const id = page.url().split('/').at(-1);
  const { items } = (await app.server.get(`/v1/sessions/${id}/events`)).body;
  return items.flatMap(({ type, data }: { type: string; data: { role?: string; text?: string } }) =>
    type === 'message.added' && data.role === 'user' ? [data.text] : [],
  );
}

test('a list of sessions that was read before the end of a run does not make it run again', LONG, async () => {
  const work = gate();
  reply = async () => {
    await work.opened;
    return anthropicReply({ text: 'At last.' });
  };
  const page = await openChat();
  const read = gate();
  const late = gate();
  await page.route('**/v1/sessions?*', async (route) => {
    const response = await route.fetch();
    read.open();
    await late.opened;
    await route.fulfill({ response });
  });
  await say(page, 'slowly');
  await read.opened;
  const stop = page.getByRole('button', { name: 'Stop', exact: true });
  await stop.waitFor();
  work.open();
  await page.getByRole('log').getByText('At last.').waitFor();
  await stop.waitFor({ state: 'detached' });
  late.open();
  await page.waitForTimeout(1000);
  expect(await stop.count()).toBe(0);
  reply = answer('Second.');
  await say(page, 'next');
  await page.getByRole('log').getByText('Second.').waitFor();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});

test('the name of a tool is not sent as a message while the list of tools is loading', LONG, async () => {
  const page = await openChat();
  const asked = gate();
  const late = gate();
  await page.route('**/v1/tools', async (route) => {
    asked.open();
    await late.opened;
    await route.continue();
  });
  await page.reload();
  await asked.opened;
  await say(page, '/bash');
  expect(await page.getByRole('button', { name: 'Send' }).isEnabled()).toBe(false);
  late.open();
  await page.getByRole('list', { name: 'Tools' }).waitFor();
  await page.locator('#composer').press('Enter');
  await page.getByRole('form', { name: 'bash' }).waitFor();
  expect(await messagesOf(page)).toEqual([]);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});

test('text streamed before the server ended is not put before the next answer', LONG, async () => {
  const [start = '', block = '', half = ''] = anthropicEvents(
    { type: 'message_start', message: { usage: { input_tokens: 1, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Half of an answer that' } },
  );
  reply = () => ({ chunks: [start, block, half], after: 'hang' });
  const page = await openChat();
  await say(page, 'tell me');
  const log = page.getByRole('log');
  await log.getByText('Half of an answer').waitFor();
  const again = gate();
  reply = async () => {
    await again.opened;
    return anthropicReply({ text: 'Something else.' });
  };
  await app.server.stop();
  await page.getByText('Connection lost').waitFor();
  await app.server.start();
  await page.getByText('Connected', { exact: true }).waitFor();
  await log.getByText('Half of an answer').waitFor({ state: 'detached', timeout: 10_000 });
  again.open();
  await log.getByText('Something else.').first().waitFor();
  await expect.poll(() => log.getByText('Something else.').count(), { timeout: 20_000 }).toBe(1);
});

describe('a message whose response was lost', () => {
  test('is not shown as unsent when the server has it', LONG, async () => {
    reply = answer('Heard.');
    const page = await openChat();
    await page.route('**/messages', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await say(page, 'only once');
    await page.getByRole('log').getByText('Heard.').waitFor();
    await expect.poll(() => page.getByText('Not sent:').count(), SOON).toBe(0);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await say(page, 'and on');
    await expect.poll(() => messagesOf(page), SOON).toEqual(['only once', 'and on']);
  });

  test('is not sent again after a reconnect', LONG, async () => {
    reply = answer('Heard too.');
    const page = await openChat();
    await say(page, 'hello');
    await page.getByRole('log').getByText('Heard too.').waitFor();
    await page.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'detached' });
    let isLost = false;
    await page.route('**/messages', async (route) => {
      await page.context().setOffline(true);
      await route.fetch();
      await route.abort();
      isLost = true;
    });
    await say(page, 'not twice');
    await expect.poll(() => isLost, SOON).toBe(true);
    await page.unroute('**/messages');
    await page.context().setOffline(false);
    await expect.poll(() => page.getByText('Not sent:').count(), SOON).toBe(0);
    await say(page, 'and on');
    await expect.poll(() => messagesOf(page), SOON).toEqual(['hello', 'not twice', 'and on']);
  });
});

describe('typed text', () => {
  test('is not lost with the page: leaving asks first', LONG, async () => {
    const page = await openChat();
    await page.locator('#composer').focus();
    await page.keyboard.type('half a thought');
    expect(await asksBeforeLeaving(page)).toBe(true);
    const path = (await openForm(page, 'read_file')).getByLabel(/^path /);
    await path.waitFor();
    expect(await asksBeforeLeaving(page)).toBe(false);
    const again = await openChat();
    const form = await openForm(again, 'read_file');
    await form.getByLabel(/^path /).fill('half a na');
    expect(await asksBeforeLeaving(again)).toBe(true);
    // Escape closes the form and keeps what is in it.
    await form.getByLabel(/^path /).press('Escape');
    await form.waitFor({ state: 'detached' });
    await openForm(again, 'read_file');
    expect(await form.getByLabel(/^path /).inputValue()).toBe('half a na');
    await form.getByRole('button', { name: 'Cancel' }).click();
    const held = gate();
    reply = async () => {
      await held.opened;
      return anthropicReply({ text: 'Done.' });
    };
    await say(again, 'first');
    await again.getByRole('button', { name: 'Stop', exact: true }).waitFor();
    await say(again, 'queued');
    await again.getByText('1 message queued').waitFor();
    expect(await asksBeforeLeaving(again)).toBe(true);
    held.open();
  });

  test('that begins with a slash and names no tool is a message', LONG, async () => {
    reply = answer('Hosts.');
    const page = await openChat();
    await say(page, '/etc/hosts: what is in it?');
    await page.getByRole('log').getByText('Hosts.').waitFor();
    expect(await messagesOf(page)).toEqual(['/etc/hosts: what is in it?']);
    await say(page, '/READ_F');
    await page.getByRole('form', { name: 'read_file' }).waitFor();
  });
});
