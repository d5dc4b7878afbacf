import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createSessionRunner } from '../../src/app/agent/session-runner.ts';
import { type ModelServer, modelServer } from '../../src/testing/model-server.ts';
import { anthropicReply } from '../../src/testing/wire-turn.ts';
import { callCard, callTool, closeBrowser, openQuestion, TestApp } from './browser.ts';

const LONG = { timeout: 120_000 };
let app: TestApp;
let model: ModelServer;
let goOn = () => {};

beforeAll(async () => {
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  model = await modelServer(async (_, index) => {
    if (index === 0) await held;
    return anthropicReply({ text: `Answer ${index}.` }, index);
  });
  const env = {
    PATH: process.env.PATH ?? '',
    TOOLWRIGHT_PROVIDER: 'anthropic',
    TOOLWRIGHT_MODEL_BASE_URL: model.url,
    ANTHROPIC_API_KEY: 'top-secret-key',
  };
  app = await TestApp.start({ env, runner: (parts) => createSessionRunner(parts, env) });
}, LONG.timeout);
afterEach(() => {
  // That the server refused something is logged by the browser itself.
  expect(app.errors.splice(0).filter((text) => !/status of 4\d\d/.test(text))).toEqual([]);
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
  await closeBrowser();
}, LONG.timeout);

test(
  'a message that was queued goes to its own session when the agent is done, whatever screen is shown',
  LONG,
  async () => {
    const page = await app.open();
    const composer = page.locator('#composer');
    await composer.fill('first');
    await composer.press('Enter');
    await page.getByRole('button', { name: 'Stop', exact: true }).waitFor();
    await composer.fill('second');
    await composer.press('Enter');
    await composer.fill('unwanted');
    await page.getByRole('button', { name: 'Queue' }).click();
    await page.getByText('2 messages queued').waitFor();
    await app.shot(page, 'queued');
    await page.getByRole('button', { name: 'Remove: unwanted' }).click();
    const chat = page.url();
    await page.getByRole('button', { name: 'New session' }).click();
    await page.waitForURL((url) => url.href !== chat);
    await page.getByRole('button', { name: 'Tools', exact: true }).click();
    goOn();
    await expect.poll(() => model.requests.length, { timeout: 30_000 }).toBe(2);
    await page.goto(chat);
    await page.getByText('Answer 1.').waitFor();
    const said = (await page.evaluate("document.querySelector('[role=log]').innerText")) as string;
    expect(said.match(/first|second|unwanted|Answer \d/g)).toEqual(['first', 'Answer 0', 'second', 'Answer 1']);
  },
);

test(
  'a message that could not be sent stays, with the reason, and goes to its session when it is tried again',
  LONG,
  async () => {
    const page = await app.open();
    await page.getByRole('button', { name: 'New session' }).click();
    await page.waitForURL(/\/chat\/./);
    const composer = page.locator('#composer');
    await composer.fill('to be kept');
    await page.context().setOffline(true);
    await composer.press('Enter');
    await page.getByText('The server does not answer').waitFor();
    await page.getByText('Not sent: 1').waitFor();
    await app.shot(page, 'not-sent');
    await page.context().setOffline(false);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('log').getByText('to be kept').waitFor();
    await page.getByText('Not sent: 1').waitFor({ state: 'detached' });
    app.errors.length = 0;
  },
);

test('the model is chosen on the page, which shows no key', LONG, async () => {
  const page = await app.open();
  await page.getByRole('button', { name: 'New session' }).click();
  await page.getByRole('button', { name: /^Use a model/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Ready: claude-sonnet-5-5').waitFor();
  await dialog.getByText("The API key comes from the server's environment.").waitFor();
  await dialog.getByText(/needs a key: set OPENAI_API_KEY/).waitFor();
  await dialog.getByRole('radio', { name: /^OpenAI/ }).check();
  await dialog.getByLabel('API key', { exact: true }).fill('entered-secret-key');
  await app.shot(page, 'model');
  await dialog.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('banner').getByText('gpt-5.4').click();
  await dialog.getByText("An API key is stored in the user's configuration").waitFor();
  expect(await dialog.getByLabel('New API key').inputValue()).toBe('');
  expect(await page.content()).not.toContain('entered-secret-key');
  await dialog.getByRole('radio', { name: /^Ollama/ }).check();
  await dialog.getByLabel('Endpoint URL').fill('http://127.0.0.1:9/v1');
  await dialog.getByLabel('Model', { exact: true }).fill('my-model');
  await dialog.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('banner').getByText('my-model').click();
  await dialog.getByRole('radio', { name: /^Call tools yourself/ }).check();
  await dialog.getByRole('button', { name: 'Apply' }).click();
  await page
    .getByRole('banner')
    .getByRole('button', { name: /^Manual/ })
    .waitFor();
  await dialog.waitFor({ state: 'hidden' });
  expect(await page.content()).not.toMatch(/top-secret-key|entered-secret-key/);
});

test(
  'the mode is switched in the top bar by an admin alone, auto only after a confirmation, and every tab follows',
  LONG,
  async () => {
    const page = await app.open();
    const other = await app.open('/tools');
    const viewer = await app.open('/', { token: await app.server.tokenFor('vera', 'viewer') });
    const mode = page.getByRole('combobox', { name: 'Mode' });
    await mode.selectOption('auto');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    expect(await mode.inputValue()).toBe('ask');
    await mode.selectOption('auto');
    await app.shot(page, 'mode');
    await page.getByRole('dialog').getByRole('button', { name: 'Switch' }).click();
    const followed = other.getByRole('combobox', { name: 'Mode' });
    await expect.poll(() => followed.inputValue(), { timeout: 20_000 }).toBe('auto');
    // As another server on the same store does, whose mode holds there alone.
    await app.server.host.ledger.record({ type: 'mode.switched', at: Date.now(), data: { mode: 'plan', by: 'else' } });
    await callTool(page, 'write_file', { path: 'a.txt', content: 'unasked\n' });
    await callCard(page, 'write_file').getByText('Done').waitFor();
    expect(await mode.inputValue()).toBe('auto');
    await followed.selectOption('ask');
    await expect.poll(() => mode.inputValue(), { timeout: 20_000 }).toBe('ask');
    expect(await viewer.getByRole('combobox', { name: 'Mode' }).isDisabled()).toBe(true);
  },
);

test(
  '"Always allow" shows its rules one per line; an edit that is too wide is refused with a reason, a narrow one is saved',
  LONG,
  async () => {
    const page = await app.open();
    await page.getByRole('button', { name: 'New session' }).click();
    await callTool(page, 'bash', { command: 'git push origin main && git fetch origin' });
    const dialog = await openQuestion(page);
    await dialog.getByRole('button', { name: 'Always' }).click();
    const rules = dialog.getByRole('textbox', { name: 'These rules will be saved' });
    expect(await rules.inputValue()).toBe('bash(git push origin main)\nbash(git fetch origin)');
    await app.shot(page, 'always');
    await rules.fill('bash');
    await dialog.getByRole('button', { name: 'Allow and save' }).click();
    await dialog.getByRole('alert').filter({ hasText: 'cannot be allowed permanently' }).waitFor();
    expect((await app.server.get('/v1/rules')).body.items).toEqual([]);
    await rules.fill('bash(git push origin main)');
    await dialog.getByRole('button', { name: 'Allow and save' }).click();
    await dialog.waitFor({ state: 'detached' });
    await callCard(page, 'bash').getByText('exit 128').waitFor();
    const saved = (await app.server.get('/v1/rules')).body.items.map(({ rule }: { rule: string }) => rule);
    expect(saved).toEqual(['bash(git push origin main)']);
  },
);

test('several requests are answered one by one: the dialog closes and the next has the focus', LONG, async () => {
  const page = await app.open();
  await page.getByRole('button', { name: 'New session' }).click();
  for (const name of ['one', 'two']) await callTool(page, 'bash', { command: `git push ${name}` });
  const dock = page.getByRole('region', { name: 'Approvals' });
  await dock.getByText('2 waiting for your approval').waitFor();
  const dialog = await openQuestion(page);
  await dialog.getByRole('button', { name: 'Allow once' }).click();
  await dialog.waitFor({ state: 'detached' });
  await dock.getByText('1 waiting for your approval').waitFor();
  await expect.poll(() => page.evaluate('document.activeElement.textContent'), { timeout: 10_000 }).toBe('Open');
  await page.keyboard.press('Enter');
  await dialog.getByText('git push two').first().waitFor();
  await expect
    .poll(() => dialog.getByRole('button', { name: 'Allow once' }).isEnabled(), { timeout: 10_000 })
    .toBe(true);
  await page.keyboard.press('Control+Enter');
  await dock.waitFor({ state: 'detached' });
  await expect.poll(() => page.evaluate('document.activeElement.id'), { timeout: 10_000 }).toBe('composer');
});

test('the tree shows git states, and marks files that a tool or a command changed', LONG, async () => {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd: app.server.workspace });
  git('init', '-q');
  git('add', '-A');
  git('commit', '-qm', 'first');
  const page = await app.open('/files');
  const item = (name: string) => page.getByRole('treeitem', { name: new RegExp(`^${name}`) });
  await item('a.txt').waitFor();
  await page.waitForTimeout(1000);
  expect(await item('a.txt').locator('[data-git]').count()).toBe(0);
  appendFileSync(join(app.server.workspace, 'a.txt'), 'by hand\n');
  await item('a.txt').getByTitle('Modified since the last commit').waitFor();
  expect(await item('a.txt').getByTitle('Changed by a tool').count()).toBe(0);
  await app.server.post('/v1/calls', { tool: 'write_file', args: { path: 'fresh/new.txt', content: 'x' } });
  await item('fresh').getByTitle('Not tracked by git').waitFor();
  await app.server.post('/v1/calls', { tool: 'bash', args: { command: 'touch x.txt' } });
  await item('x.txt').getByTitle('Changed by a tool').waitFor();
  await app.shot(page, 'files-git');
  expect(await item('.git').count()).toBe(0);
});
