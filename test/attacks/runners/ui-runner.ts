import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { z } from 'zod';
import { ok } from '../../../src/kernel/result.ts';
import { defineTool } from '../../../src/kernel/tool/tool.ts';
import { openQuestion, TestApp } from '../../app/browser.ts';
import type { Attack, Observation } from '../attack.ts';
import type { Runner } from '../harness.ts';
import { showInTerminal } from './terminal-runner.ts';

/** A page that shows hostile content in a real browser; `wrong` is the finding of a check, or null. */
export const uiRunner: Runner = {
  kind: 'execute',
  async run({ attack }) {
    if (attack.class === 'ui.terminal-escapes') return showInTerminal(attack);
    const app = await TestApp.start({ tools: [say] });
    const dialogs: string[] = [];
    try {
      const shown = await SHOW[shapeOf(attack)]?.(app, attack.input, dialogs);
      if (shown === undefined) return undefined;
      const { page, wrong } = shown;
      await page.waitForTimeout(300);
      const pwned = await page.evaluate('window.__pwned');
      const found =
        wrong ??
        (pwned === undefined ? null : 'a script of the attacker ran') ??
        (dialogs.length === 0 ? null : `a dialog opened: ${dialogs[0]}`) ??
        (app.strayRequests.length === 0 ? null : `the page asked for ${app.strayRequests[0]}`);
      return { outcomes: ['allow'], text: '', durationMs: 0, detail: { wrong: found } } satisfies Observation;
    } finally {
      await app[Symbol.asyncDispose]();
    }
  },
  texts: { ui: (_fixture, seen) => (seen.detail as { wrong: string | null }).wrong },
};

/** A tool that says whatever it is given, as a hostile one would. */
const say = defineTool({
  name: 'say',
  description: 'Says it.',
  effect: 'pure',
  input: z.object({ text: z.string() }),
  access: () => [],
  run: ({ text }) => ok(text),
});

interface Shown {
  readonly page: Page;
  readonly wrong: string | null;
}

type Show = (app: TestApp, input: Attack['input'], dialogs: string[]) => Promise<Shown>;

function shapeOf({ input }: Attack): string {
  return Object.keys(SHOW).find((key) => key in input) ?? '';
}

const SHOW: Readonly<Record<string, Show>> = {
  async tool_output(app, { tool_output }, dialogs) {
    const flood = typeof tool_output !== 'string';
    const text = flood ? 'x'.repeat(50 * 1024 * 1024) : String(tool_output);
    const session = await newSession(app);
    const called = app.server.host.apps.values().next().value;
    await called?.executor.execute('say', { ...called.context, sessionId: session }, { text });
    const page = await openPage(app, `/chat/${session}`, dialogs);
    const card = page.locator('section[data-call]').first();
    await card.getByRole('button', { expanded: false }).first().click();
    const frame = card.locator('figure.output-frame');
    await frame.getByText('Output', { exact: true }).waitFor();
    if (flood) return { page, wrong: await afterFlood(page) };
    const inside = ((await frame.textContent()) ?? '').replace(/\s+/g, ' ');
    const own = await frame.locator('a[href]').count();
    const escaped = inside.includes('\u001b');
    return { page, wrong: own > 0 ? 'a link in output is live' : escaped ? 'an escape sequence got through' : null };
  },

  async assistant_markdown(app, { assistant_markdown }, dialogs) {
    const session = await newSession(app);
    const data = { messageId: 'm1', role: 'assistant', text: String(assistant_markdown) } as const;
    await app.server.host.ledger.note(session, { type: 'message.added', callId: null, at: Date.now(), data });
    const page = await openPage(app, `/chat/${session}`, dialogs);
    const message = page.locator('[data-role=assistant]').last();
    await message.waitFor();
    for (const link of await message.locator('a, span[title]').all()) await link.click({ trial: true });
    const links = await message.locator('a[href]:not([href^="https://"]):not([href^="http://"])').count();
    const active = await message.locator('img, iframe, style, script, object, embed').count();
    const asked = await detailsStayVisible(app, page);
    return { page, wrong: links + active > 0 ? 'it became markup' : asked };
  },

  async filename(app, { filename }, dialogs) {
    writeFileSync(join(app.server.workspace, String(filename)), 'x');
    const page = await openPage(app, '/files', dialogs);
    await page.getByRole('tree').getByText(String(filename)).click();
    await page.getByRole('navigation', { name: 'Open files' }).getByText(String(filename)).waitFor();
    return { page, wrong: null };
  },

  async approval(app, { approval }, dialogs) {
    const { tool, args, args_raw: raw } = approval as { tool: string; args?: unknown; args_raw?: string };
    const session = await newSession(app);
    await app.server.post('/v1/rules', { rule: 'bash', verdict: 'ask' });
    const body = `{"tool":"${tool}","session":"${session}","wait":false,"args":${raw ?? JSON.stringify(args)}}`;
    const asked = await app.server.fetch('/v1/calls', { method: 'POST', body });
    const page = await openPage(app, `/chat/${session}`, dialogs);
    if (asked.status >= 400) return { page, wrong: null };
    const call = (await asked.json()) as { id: string };
    if (raw !== undefined) return { page, wrong: await sameParse(app, call.id) };
    const dialog = await openQuestion(page);
    const shown = (await dialog.locator('.approval-details').textContent()) ?? '';
    await dialog.getByRole('button', { name: 'Edit' }).click();
    await dialog.getByRole('tab', { name: 'Form' }).click();
    const command = (args as { command?: string }).command;
    if (command === undefined) return { page, wrong: null };
    const tail = command.slice(-8).replaceAll(/[\u202a-\u202e]/g, '');
    const hidden = /[\u202a-\u202e\u200b]/.test(shown) ? 'a character that cannot be seen is shown as it is' : null;
    const cut = shown.includes(tail.slice(0, 6))
      ? null
      : `the end of the command is not in sight: ${shown.slice(0, 200)}`;
    const padded = / {40}/.test(command) && !/blanks/.test(shown) ? 'blanks are not counted' : null;
    return { page, wrong: hidden ?? cut ?? padded };
  },

  async session_title(app, { session_title }, dialogs) {
    await app.server.post('/v1/sessions', { title: String(session_title) });
    const page = await openPage(app, '/', dialogs);
    await page
      .getByRole('combobox', { name: 'Sessions' })
      .getByText(String(session_title))
      .waitFor({ state: 'attached' });
    return { page, wrong: null };
  },

  async file(app, { file, content }, dialogs) {
    writeFileSync(join(app.server.workspace, String(file)), String(content));
    const page = await openPage(app, `/files/${encodeURIComponent(String(file))}`, dialogs);
    await page.getByText('window.__pwned', { exact: false }).first().waitFor();
    const served = await app.server.fetch(`/v1/files/content?path=${encodeURIComponent(String(file))}`);
    const type = served.headers.get('content-type') ?? '';
    return { page, wrong: type.startsWith('application/json') ? null : `the file is served as ${type}` };
  },
};

async function openPage(app: TestApp, path: string, dialogs: string[]): Promise<Page> {
  const page = await app.open(path);
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  await page.getByText('Connected', { exact: true }).waitFor();
  return page;
}

async function newSession(app: TestApp): Promise<string> {
  return (await app.server.post('/v1/sessions')).body.id;
}

/** Styles of an attacker would hide what is approved. */
async function detailsStayVisible(app: TestApp, page: Page): Promise<string | null> {
  const args = { path: 'a.txt', content: 'x' };
  await app.server.post('/v1/calls', { tool: 'write_file', args, session: await newSession(app), wait: false });
  const dialog = await openQuestion(page);
  return (await dialog.locator('.approval-details').isVisible()) ? null : 'the details of the approval are hidden';
}

async function sameParse(app: TestApp, callId: string): Promise<string | null> {
  const { body: call } = await app.server.get(`/v1/calls/${callId}`);
  const { body: asked } = await app.server.get('/v1/approvals');
  const shown = asked.items.find((each: { stepId: string }) => each.stepId === callId)?.args?.path;
  return shown === undefined || shown === call.args.path ? null : `shown ${shown}, recorded ${call.args.path}`;
}

/** The best of a few tries: a busy machine may be slow once, a page that lays out 50 MB is slow every time. */
async function afterFlood(page: Page): Promise<string | null> {
  const waits: number[] = [];
  for (let round = 0; round < 8; round++) {
    const started = Date.now();
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)))');
    waits.push(Date.now() - started);
  }
  const slow = Math.min(...waits) > 200 ? `the page answers after ${Math.min(...waits)} ms` : null;
  const whole = await page.getByRole('button', { name: 'Download all' }).count();
  return slow ?? (whole === 1 ? null : 'there is no way to the whole output');
}
