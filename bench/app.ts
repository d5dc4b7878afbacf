import { setTimeout } from 'node:timers/promises';
import type { CDPSession, Page } from 'playwright-core';
import { z } from 'zod';
import { ok } from '../src/kernel/result.ts';
import { defineTool } from '../src/kernel/tool.ts';
import { closeBrowser, TestApp } from '../test/app/browser.ts';
import { atMost, type Benchmark, type Measurement, reported } from './benchmark.ts';

const MESSAGES = 10_000;
const PER_SECOND = 200;
const SECONDS = 10;
const MB = 1024 * 1024;

export const benchmark: Benchmark = {
  about:
    'The page in a real browser: a session of 10,000 messages, live output at 200 events a second, the first load.',
  async run() {
    const app = await TestApp.start({ tools: [printLines] });
    try {
      return [...(await firstLoad(app)), ...(await longSession(app)), ...(await liveOutput(app))];
    } finally {
      await app[Symbol.asyncDispose]();
      await closeBrowser();
    }
  },
};

/** At a fourth of the processor's speed, until one can type. */
async function firstLoad(app: TestApp): Promise<Measurement[]> {
  await (await app.open()).locator('#composer').waitFor();
  const page = await app.open('/history');
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  const started = performance.now();
  await page.goto(app.server.running.url);
  await page.locator('#composer').waitFor();
  await page.locator('#composer').fill('/');
  return [atMost('first load until one can type, processor at a quarter', performance.now() - started, 'ms', 1000)];
}

async function longSession(app: TestApp): Promise<Measurement[]> {
  const session = await newSession(app);
  for (let from = 0; from < MESSAGES; from += 500) {
    await Promise.all(Array.from({ length: 500 }, (_, index) => say(app, session, from + index)));
  }
  const page = await app.open(`/chat/${session}`);
  await page.getByText(`message ${MESSAGES - 1}`, { exact: true }).waitFor();
  const lost = await scrollThrough(page);
  const devtools = await page.context().newCDPSession(page);
  return [
    atMost('messages that scrolling does not show, of 10,000', lost, 'messages', 0),
    atMost('memory of the page with 10,000 messages', (await heapOf(devtools)) / MB, 'MB', 300),
  ];
}

/** Looks at places all over the list: each must show the message that belongs there. */
async function scrollThrough(page: Page): Promise<number> {
  let lost = 0;
  for (let share = 0; share <= 1; share += 0.05) {
    await page.evaluate(
      `{ const log = document.querySelector('[role=log]'); log.scrollTop = log.scrollHeight * ${share}; }`,
    );
    await page.waitForTimeout(150);
    const shown = (await page.evaluate(
      `[...document.querySelectorAll('[role=log] [data-role=assistant]')].map((one) => one.textContent)`,
    )) as string[];
    if (shown.length < 5 || shown.some((text) => !/message \d+/.test(text))) lost++;
  }
  return lost;
}

/** One call that prints a line at each beat; the page must show every line, while somebody types. */
async function liveOutput(app: TestApp): Promise<Measurement[]> {
  const session = await newSession(app);
  const page = await app.open(`/chat/${session}`);
  await page.locator('#composer').waitFor();
  await page.evaluate(`{
    window.__tasks = [];
    new PerformanceObserver((list) => { for (const e of list.getEntries()) window.__tasks.push(e.duration); })
      .observe({ type: 'longtask' });
    window.__lines = new Set();
    new MutationObserver(() => {
      for (const line of document.querySelector('[data-live]')?.textContent.split('\\n') ?? []) window.__lines.add(line);
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  }`);
  const [first] = app.server.host.apps.values();
  if (first === undefined) return [];
  const context = { ...first.context, sessionId: session, timeout: 60 };
  const running = first.executor.execute('print_lines', context, {});
  const typed: number[] = [];
  for (let second = 0; second < SECONDS; second++) {
    const at = performance.now();
    await page.locator('#composer').fill(`typed ${second}`);
    typed.push(performance.now() - at);
    await page.waitForTimeout(900);
  }
  await running;
  await page.getByText('Done').waitFor();
  const shown = new Set((await page.evaluate('[...window.__lines]')) as string[]);
  const lost = Array.from({ length: PER_SECOND * SECONDS }, (_, index) => `line ${index}`).filter(
    (line) => !shown.has(line),
  );
  const tasks = ((await page.evaluate('window.__tasks')) as number[]).sort((a, b) => a - b);
  return [
    atMost(`lines lost of ${PER_SECOND * SECONDS}, ${PER_SECOND} events a second`, lost.length, 'lines', 0),
    atMost('long tasks of the page, 95th percentile', tasks[Math.floor(tasks.length * 0.95)] ?? 0, 'ms', 100),
    reported('typing while output comes, slowest', Math.max(...typed), 'ms'),
  ];
}

const printLines = defineTool({
  name: 'print_lines',
  description: 'Prints lines at a steady pace.',
  effect: 'pure',
  input: z.object({}),
  access: () => [],
  async run(_, ctx) {
    const started = performance.now();
    for (let line = 0; line < PER_SECOND * SECONDS; line++) {
      const early = started + (line * 1000) / PER_SECOND - performance.now();
      if (early > 1) await setTimeout(early);
      ctx.progress({ output: `line ${line}\n` });
    }
    await setTimeout(1000);
    return ok('printed');
  },
});

async function heapOf(devtools: CDPSession): Promise<number> {
  await devtools.send('HeapProfiler.collectGarbage');
  const { usedSize } = (await devtools.send('Runtime.getHeapUsage')) as { usedSize: number };
  return usedSize;
}

async function newSession(app: TestApp): Promise<string> {
  return (await app.server.post('/v1/sessions')).body.id;
}

async function say(app: TestApp, session: string, number: number): Promise<void> {
  const data = { messageId: `m${number}`, role: 'assistant', text: `message ${number}` } as const;
  await app.server.host.ledger.note(session, { type: 'message.added', callId: null, at: Date.now(), data });
}
