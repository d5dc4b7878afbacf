import { cpSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { createSessionRunner } from '../../src/app/agent/session-runner.ts';
import { TestServer } from '../server/test-server.ts';

const root = join(import.meta.dirname, '../..');
const shots = join(root, '.cache', 'screenshots');
/** Generous, since a busy machine is slow; a page that hangs is noticed all the same. */
const PATIENCE_MS = 40_000;
let browser: Promise<Browser> | undefined;

export async function closeBrowser(): Promise<void> {
  await (await browser)?.close();
  browser = undefined;
}

/** A real server with the built page, and a real browser on it. Errors that the page logs are collected. */
export class TestApp implements AsyncDisposable {
  readonly server: TestServer;
  readonly errors: string[] = [];
  /** Requests to anywhere else than the server. */
  readonly strayRequests: string[] = [];
  readonly #pages: Page[] = [];

  private constructor(server: TestServer) {
    this.server = server;
  }

  static async start(options: ConstructorParameters<typeof TestServer>[0] = {}): Promise<TestApp> {
    const server = new TestServer({
      pages: join(root, 'dist', 'web'),
      port: await freePort(),
      runner: (parts) => createSessionRunner(parts, {}),
      ...options,
    });
    await server.start();
    return new TestApp(server);
  }

  /** Puts the demo workspace into the server's own. */
  addDemo(): void {
    cpSync(join(root, 'examples', 'demo-workspace'), this.server.workspace, { recursive: true });
  }

  /** The page as the printed address opens it. */
  async open(path = '/', options: BrowserContextOptions & { token?: string } = {}): Promise<Page> {
    const { token = this.server.tokens.own, ...rest } = options;
    browser ??= chromium.launch({
      executablePath: join(import.meta.dirname, 'chromium.sh'),
      args: ['--no-sandbox', '--disable-gpu'],
    });
    const viewport = { width: 1280, height: 800 };
    const context = await (await browser).newContext({ viewport, locale: 'en-GB', ...rest });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    page.on('pageerror', (error) => this.errors.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && this.errors.push(message.text()));
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.protocol.startsWith('http') && url.origin !== this.server.running.url) this.strayRequests.push(url.href);
    });
    this.#pages.push(page);
    await page.goto(`${this.server.running.url}${path}#token=${token}`);
    return page;
  }

  async shot(page: Page, name: string): Promise<void> {
    mkdirSync(shots, { recursive: true });
    await page.screenshot({ path: join(shots, `${name}.png`) });
  }

  /** Closes the pages, since an open page goes on following the server. */
  async closePages(): Promise<void> {
    for (const page of this.#pages.splice(0)) await page.context().close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.closePages();
    await this.server[Symbol.asyncDispose]();
  }
}

/** Calls a tool as a person does: `/` and its name, then the form. */
export async function callTool(page: Page, tool: string, fields: Record<string, string>): Promise<void> {
  const form = await openForm(page, tool);
  for (const [name, value] of Object.entries(fields)) await form.getByLabel(new RegExp(`^${name} `)).fill(value);
  await form.getByRole('button', { name: /Run|运行/ }).click();
}

/** The form of a tool, once the page knows the tools. */
export async function openForm(page: Page, tool: string): Promise<Locator> {
  await page.locator('#composer').fill(`/${tool}`);
  await page.getByRole('list', { name: /Tools|工具/ }).waitFor();
  await page.locator('#composer').press('Enter');
  return page.getByRole('form', { name: tool });
}

export function callCard(page: Page, tool: string): Locator {
  return page.locator('section[data-call]', { hasText: tool });
}

/** Opens the first question; its buttons wake up after half a second. */
export async function openQuestion(page: Page): Promise<Locator> {
  await page.getByRole('region', { name: 'Approvals' }).getByRole('button', { name: 'Open' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('heading', { name: /^(Command|Call)$/ }).waitFor();
  return dialog;
}

/** Scrolls to the end of the call, as a person does. */
export async function scrollToEnd(dialog: Locator): Promise<void> {
  await dialog.locator('.approval-details > :last-child').scrollIntoViewIfNeeded();
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

/** Whether closing the page asks first; a page that asks stays open. */
export async function asksBeforeLeaving(page: Page): Promise<boolean> {
  let asked = false;
  const gone = new Promise<void>((resolve) => {
    page.once('close', () => resolve());
    page.once('dialog', (dialog) => {
      asked = dialog.type() === 'beforeunload';
      void dialog.dismiss().then(resolve);
    });
  });
  await page.close({ runBeforeUnload: true });
  await gone;
  return asked;
}
