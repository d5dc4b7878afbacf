import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { closeBrowser, TestApp } from './browser.ts';

const LONG = { timeout: 120_000 };
const SOON = { timeout: 20_000 };
let app: TestApp;

beforeAll(async () => {
  app = await TestApp.start();
}, LONG.timeout);
afterEach(async () => {
  await app.closePages();
  expect(app.errors.splice(0)).toEqual([]);
}, LONG.timeout);
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await closeBrowser();
}, LONG.timeout);

const onDisk = (name: string) => join(app.server.workspace, name);

async function opened(name: string, text: string, options: Parameters<TestApp['open']>[1] = {}): Promise<Page> {
  writeFileSync(onDisk(name), text);
  const page = await app.open(`/files/${name}`, options);
  await page.locator('.cm-line').first().waitFor();
  return page;
}

function notice(page: Page, words: string): Locator {
  return page.getByRole('alert').filter({ hasText: words });
}

async function type(page: Page, text: string): Promise<void> {
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.type(text);
}

/** Runs in the page: how a part of the editor looks, in its own root. */
const styleIn = (host: string, part: string, property: string) =>
  `getComputedStyle([...document.querySelectorAll('${host}')].map((e) => e.shadowRoot?.querySelector('${part}')).find(Boolean)).${property}`;

describe('a file that changes on disk', () => {
  test('to binary is not shown as text, and is again when it becomes text', LONG, async () => {
    const page = await opened('turning.txt', 'words\n');
    const binary = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 1, 2, 255, 254, 0, 7]);
    writeFileSync(onDisk('turning.txt'), binary);
    await notice(page, 'no longer text').waitFor();
    await page.getByText('words', { exact: true }).waitFor();
    await page.locator('.cm-content').click();
    await page.keyboard.press('Control+s');
    await page.waitForTimeout(500);
    expect(readFileSync(onDisk('turning.txt')).equals(binary)).toBe(true);
    writeFileSync(onDisk('turning.txt'), 'words again\n');
    await page.getByText('words again', { exact: true }).waitFor();
    await type(page, 'my ');
    writeFileSync(onDisk('turning.txt'), binary);
    await notice(page, 'no longer text').getByRole('button', { name: 'Keep mine' }).click();
    await expect.poll(() => readFileSync(onDisk('turning.txt'), 'utf8'), SOON).toBe('my words again\n');
    expect(app.errors.splice(0).every((text) => text.includes('412'))).toBe(true);
  });

  test('to other line endings keeps its lines, and is saved with those endings', LONG, async () => {
    const page = await opened('ends.txt', 'one\r\ntwo\r\n');
    writeFileSync(onDisk('ends.txt'), 'one\ntwo\nthree\n');
    await page.getByText('three', { exact: true }).waitFor();
    expect(await page.locator('.cm-line').count()).toBe(4);
    await type(page, 'x\n');
    await page.keyboard.press('Control+s');
    await expect.poll(() => readFileSync(onDisk('ends.txt'), 'utf8'), SOON).toBe('x\none\ntwo\nthree\n');
    writeFileSync(onDisk('ends.txt'), 'a\r\nb\r\n');
    await page.getByText('b', { exact: true }).waitFor();
    await type(page, 'y\n');
    await page.keyboard.press('Control+s');
    await expect.poll(() => readFileSync(onDisk('ends.txt'), 'utf8'), SOON).toBe('y\r\na\r\nb\r\n');
  });

  test(
    'and back again is no conflict, and a file restored after deletion is not reported as deleted',
    LONG,
    async () => {
      const page = await opened('back.txt', 'first\n');
      await type(page, 'mine ');
      writeFileSync(onDisk('back.txt'), 'second\n');
      await notice(page, 'was changed on disk').waitFor();
      writeFileSync(onDisk('back.txt'), 'first\n');
      await notice(page, 'was changed on disk').waitFor({ state: 'detached' });
      rmSync(onDisk('back.txt'));
      await notice(page, 'was deleted').waitFor();
      writeFileSync(onDisk('back.txt'), 'first\n');
      await notice(page, 'was deleted').waitFor({ state: 'detached' });
      await page.getByText('mine first', { exact: true }).waitFor();
      expect(app.errors.splice(0).every((text) => text.includes('404'))).toBe(true);
    },
  );
});

test('a file that was left for another screen is there again', LONG, async () => {
  const page = await opened('left.txt', 'left here\n');
  const screens = page.getByRole('navigation', { name: 'Toolwright' });
  await screens.getByText('Chat').click();
  await page.locator('#composer').waitFor();
  await screens.getByText('Files').click();
  await page.getByText('left here', { exact: true }).waitFor();
  expect(page.url()).toMatch(/\/files\/left\.txt$/);
  await page.getByRole('button', { name: 'Close left.txt' }).click();
  await screens.getByText('Chat').click();
  await screens.getByText('Files').click();
  await page.getByText('Select a file in the tree.').waitFor();
});

test('in the dark theme the comparison and the search are dark and readable', LONG, async () => {
  const page = await opened('dark.txt', 'first\n', { colorScheme: 'dark' });
  const ink = (await page.evaluate('getComputedStyle(document.body).color')) as string;
  const raised = (await page.evaluate(styleIn('div', '.cm-gutters', 'backgroundColor'))) as string;
  await type(page, 'mine ');
  await page.keyboard.press('Control+f');
  await page.locator('.cm-panels').waitFor();
  expect(await page.evaluate(styleIn('div', '.cm-panels', 'backgroundColor'))).toBe(raised);
  expect(await page.evaluate(styleIn('div', '.cm-panels .cm-textfield', 'color'))).toBe(ink);
  writeFileSync(onDisk('dark.txt'), 'second\n');
  await notice(page, 'was changed on disk').getByRole('button', { name: 'Compare' }).click();
  await page.getByRole('dialog').getByText('second', { exact: true }).waitFor();
  expect(await page.evaluate("getComputedStyle(document.querySelector('dialog')).color")).toBe(ink);
  expect(await page.evaluate(styleIn('dialog div', '.cm-gutters', 'backgroundColor'))).toBe(raised);
  await app.shot(page, 'compare-dark');
});
