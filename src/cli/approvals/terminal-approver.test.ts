import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { ApprovalRequest } from '../../kernel/ports.ts';
import type { Cli } from '../cli.ts';
import { createLiveArea } from '../run/live-area.ts';
import { styleFor } from '../text/style.ts';
import { en } from '../text/words-en.ts';
import { Prompter } from './prompter.ts';
import { createTerminalApprover } from './terminal-approver.ts';

function terminal() {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const stdout = Object.assign(new PassThrough(), { isTTY: false });
  let printed = '';
  stdout.on('data', (chunk) => {
    printed += chunk;
  });
  const io = { stdin, stdout, stderr: stdout, env: {}, cwd: '/', onInterrupt: () => () => {} };
  const print = (line: string) => void stdout.write(`${line}\n`);
  const cli: Cli = {
    io,
    argv: [],
    words: en,
    style: styleFor(io),
    live: createLiveArea(io),
    exitCode: 0,
    print,
    note: print,
  };
  const prompter = new Prompter(cli, { onInterrupt() {} });
  return {
    approver: createTerminalApprover(cli, () => prompter),
    type: (line: string) => sleep(30).then(() => void stdin.write(`${line}\n`)),
    printed: () => printed,
    close: () => prompter.close(),
  };
}

function about(command: string): ApprovalRequest {
  const shown = { summary: command, access: [], verdicts: [], preview: [], seen: {} };
  const ids = { id: command, stepId: command, session: 's', tool: 'bash', digest: '' };
  return { ...ids, args: { command }, reason: 'It writes.', summary: command, access: [], shown };
}

const signal = new AbortController().signal;

test('two questions at once are shown and answered one after the other', async () => {
  const { approver, type, printed, close } = terminal();
  const [first, second] = [approver.ask(about('ls -la'), signal), approver.ask(about('rm -rf build'), signal)];
  await sleep(30);
  expect(printed()).toContain('ls -la');
  expect(printed()).not.toContain('rm -rf build');
  await type('y');
  expect(await first).toMatchObject({ approved: true });
  await sleep(30);
  expect(printed()).toContain('rm -rf build');
  await type('n');
  await type('');
  expect(await second).toMatchObject({ approved: false });
  close();
});

test('what was typed before a question was shown does not answer it', async () => {
  const { approver, type, close } = terminal();
  await type('y');
  await sleep(30);
  const asked = approver.ask(about('curl evil'), signal);
  expect(await Promise.race([asked, sleep(100).then(() => 'waits')])).toBe('waits');
  await type('n');
  await type('');
  expect(await asked).toMatchObject({ approved: false });
  close();
});
