import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { z } from 'zod';
import { ok } from '../src/kernel/result.ts';
import { defineTool } from '../src/kernel/tool/tool.ts';
import { closeBrowser, TestApp } from '../test/app/browser.ts';
import { atMost, type Benchmark, type Measurement, median, timesTheLimit } from './benchmark.ts';
import { pagesWithPeer } from './programs/app.peer.ts';
import { UnobservedPage } from './programs/app.unobserved-page.ts';

const MESSAGES = 10_000;
const PER_SECOND = 200;
const SECONDS = 10;
const MB = 1024 * 1024;

export const benchmark: Benchmark = {
  about:
    'The page in a real browser: a session of 10,000 messages, live output at 200 events a second, the first load; beside it a page that only appends the same as plain text.',
  async run() {
    const pages = pagesWithPeer(join(import.meta.dirname, '../dist/web'));
    const app = await TestApp.start({ tools: [printLines], pages: pages.folder });
    try {
      return [...(await firstLoad(app)), ...(await longSession(app)), ...(await liveOutput(app))];
    } finally {
      await app[Symbol.asyncDispose]();
      await closeBrowser();
      pages.remove();
    }
  },
};

const LOADS = 9;

/** At a fourth of the processor's speed, from the start of the navigation until what was typed is on the screen. */
async function firstLoad(app: TestApp): Promise<Measurement[]> {
  const what = 'first load until what one types is shown, processor at a quarter';
  const [ours, peer]: [number[], number[]] = [[], []];
  for (let load = 0; load < LOADS; load++) {
    ours.push(await loadTime(app, '/'));
    peer.push(await loadTime(app, '/bare.html'));
  }
  return [
    atMost(what, median(ours), 'ms', 1000),
    timesTheLimit('the same beside a page with nothing but a box to write in', median(ours), median(peer), 'ms'),
  ];
}

/** In a new profile of the browser: nothing is cached. */
async function loadTime(app: TestApp, path: string): Promise<number> {
  const driven = await app.open('/icon.svg');
  const browser = await driven.context().browser()?.newBrowserCDPSession();
  if (browser === undefined) throw new Error('the browser is gone');
  await using page = await UnobservedPage.open(browser, `${app.server.running.url}/icon.svg`);
  await app.closePages();
  await page.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  await page.send('Page.addScriptToEvaluateOnNewDocument', { source: TYPE_WHEN_THERE });
  await page.send('Page.navigate', { url: `${app.server.running.url}${path}#token=${app.server.tokens.own}` });
  for (;;) {
    await setTimeout(200);
    const typed = await page.evaluate('window.__typed');
    if (typeof typed === 'number') return typed;
  }
}

/** Runs in the page: what a person does, without the cost of whoever drives the browser. */
const TYPE_WHEN_THERE = `{
  const type = (box) => {
    box.focus();
    document.execCommand('insertText', false, 'x');
    const look = () => document.querySelector('#composer').value === 'x' && (window.__typed = performance.now());
    requestAnimationFrame(() => setTimeout(look));
  };
  const watch = new MutationObserver(() => {
    const box = document.querySelector('#composer');
    if (box === null) return;
    watch.disconnect();
    setTimeout(() => type(box));
  });
  watch.observe(document, { subtree: true, childList: true });
}`;

async function longSession(app: TestApp): Promise<Measurement[]> {
  const session = await newSession(app);
  for (let from = 0; from < MESSAGES; from += 500) {
    await Promise.all(Array.from({ length: 500 }, (_, index) => say(app, session, from + index)));
  }
  const page = await openAt(app, `/chat/${session}`);
  const lost = await scrollThrough(page);
  const ours = (await heapOf(page)) / MB;
  const peer = (await heapOf(await openAt(app, `/bare.html`, session))) / MB;
  await app.closePages();
  return [
    atMost('messages that scrolling does not show, of 10,000', lost, 'messages', 0),
    atMost('memory of the page with 10,000 messages', ours, 'MB', 300),
    timesTheLimit('the same beside 10,000 lines of plain text', ours, peer, 'MB'),
  ];

  async function openAt(app: TestApp, path: string, of?: string): Promise<Page> {
    const page = await openPage(app, path, of);
    await page.getByText(`message ${MESSAGES - 1}`, { exact: true }).waitFor();
    return page;
  }
}

function openPage(app: TestApp, path: string, session?: string): Promise<Page> {
  const token = app.server.tokens.own;
  return app.open(path, session === undefined ? {} : { token: `${token}&session=${session}` });
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

async function liveOutput(app: TestApp): Promise<Measurement[]> {
  const session = await newSession(app);
  const ours = await watchOutput(app, await openPage(app, `/chat/${session}`), session);
  const another = await newSession(app);
  const peer = await watchOutput(app, await openPage(app, '/bare.html', another), another);
  return [
    atMost(`lines lost of ${PER_SECOND * SECONDS}, ${PER_SECOND} events a second`, ours.lost, 'lines', 0),
    atMost('long tasks of the page, 95th percentile', ours.longTasks, 'ms', 100),
    timesTheLimit(
      'typing while output comes, beside plain text that is appended: median',
      ours.typing,
      peer.typing,
      'ms',
    ),
    timesTheLimit('the same, slowest', ours.slowest, peer.slowest, 'ms'),
  ];
}

/** One call that prints a line at each beat; the page must show every line, while somebody types. */
async function watchOutput(app: TestApp, page: Page, session: string) {
  await page.locator('#composer').waitFor();
  await page.evaluate(`{
    window.__tasks = [];
    new PerformanceObserver((list) => { for (const e of list.getEntries()) window.__tasks.push(e.duration); })
      .observe({ type: 'longtask' });
    window.__lines = new Set();
    new MutationObserver(() => {
      for (const line of document.querySelector('[data-live]')?.textContent.split('\\n').slice(-200) ?? []) window.__lines.add(line);
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  }`);
  const [first] = app.server.host.apps.values();
  if (first === undefined) throw new Error('a server has a workspace');
  const running = first.executor.execute('print_lines', { ...first.context, sessionId: session, timeout: 60 }, {});
  const typed: number[] = [];
  for (let second = 0; second < SECONDS; second++) {
    const at = performance.now();
    await page.locator('#composer').fill(`typed ${second}`);
    typed.push(performance.now() - at);
    await page.waitForTimeout(900);
  }
  await running;
  await page.getByText('Done').first().waitFor();
  const shown = new Set((await page.evaluate('[...window.__lines]')) as string[]);
  const lines = Array.from({ length: PER_SECOND * SECONDS }, (_, index) => `line ${index}`);
  const tasks = ((await page.evaluate('window.__tasks')) as number[]).sort((a, b) => a - b);
  await app.closePages();
  return {
    lost: lines.filter((line) => !shown.has(line)).length,
    longTasks: tasks[Math.floor(tasks.length * 0.95)] ?? 0,
    typing: median(typed),
    slowest: Math.max(...typed),
  };
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

async function heapOf(page: Page): Promise<number> {
  const devtools = await page.context().newCDPSession(page);
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
