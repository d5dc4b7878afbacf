import { setTimeout } from 'node:timers/promises';
import type { CDPSession } from 'playwright-core';

/**
 * A page in a profile of its own that Playwright does not observe. Under Playwright the browser keeps the stack of every
 * request and error, which it does for no real user and which costs a fifth of a first load.
 */
export class UnobservedPage implements AsyncDisposable {
  readonly #browser: CDPSession;
  readonly #profile: string;
  readonly #session: string;
  readonly #answers = new Map<number, (answer: Answer) => void>();

  private constructor(browser: CDPSession, profile: string, session: string) {
    this.#browser = browser;
    this.#profile = profile;
    this.#session = session;
    browser.on('Target.receivedMessageFromTarget', this.#receive);
  }

  static async open(browser: CDPSession, url: string): Promise<UnobservedPage> {
    const { browserContextId } = await browser.send('Target.createBrowserContext');
    const { targetId } = await browser.send('Target.createTarget', { url, browserContextId, width: 1280, height: 800 });
    const { sessionId } = await browser.send('Target.attachToTarget', { targetId });
    const page = new UnobservedPage(browser, browserContextId, sessionId);
    await page.send('Page.enable');
    const isThere = `location.href === ${JSON.stringify(url)} && document.readyState === 'complete'`;
    while (!(await page.evaluate(isThere))) await setTimeout(20);
    return page;
  }

  async send(method: string, params: object = {}): Promise<unknown> {
    const id = this.#answers.size + 1;
    const answered = new Promise<Answer>((resolve) => this.#answers.set(id, resolve));
    const message = JSON.stringify({ id, method, params });
    await this.#browser.send('Target.sendMessageToTarget', { sessionId: this.#session, message });
    const { result, error } = await answered;
    if (error !== undefined) throw new Error(`the browser refused ${method}: ${JSON.stringify(error)}`);
    return result;
  }

  async evaluate(expression: string): Promise<unknown> {
    const { result } = (await this.send('Runtime.evaluate', { expression })) as { result: { value?: unknown } };
    return result.value;
  }

  readonly #receive = (event: { sessionId: string; message: string }): void => {
    if (event.sessionId !== this.#session) return;
    const answer = JSON.parse(event.message) as Answer;
    if (answer.id !== undefined) this.#answers.get(answer.id)?.(answer);
  };

  async [Symbol.asyncDispose](): Promise<void> {
    this.#browser.off('Target.receivedMessageFromTarget', this.#receive);
    await this.#browser.send('Target.disposeBrowserContext', { browserContextId: this.#profile });
    await this.#browser.detach();
  }
}

interface Answer {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: unknown;
}
