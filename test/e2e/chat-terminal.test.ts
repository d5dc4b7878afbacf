import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type CliFixture, createCliFixture } from '../../src/testing/cli-fixture.ts';
import { modelServer } from '../../src/testing/model-server.ts';
import { anthropicReply } from '../../src/testing/wire-turn.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** A real terminal of its own, which types keys and shows a screen. */
class Terminal implements Disposable {
  readonly #socket: string;

  constructor(socket: string, command: string) {
    this.#socket = socket;
    this.#tmux('-f', '/dev/null', 'new-session', '-d', '-x', '120', '-y', '60', command);
  }

  type(...keys: string[]): void {
    this.#tmux('send-keys', ...keys);
  }

  /** Pastes as a terminal does: between marks, if the program asked for them. */
  paste(text: string): void {
    this.#tmux('set-buffer', text);
    this.#tmux('paste-buffer', '-p');
  }

  /** Waits until the screen, with what scrolled away, shows it. */
  async sees(words: string | RegExp): Promise<string> {
    for (let tries = 0; tries < 300; tries++) {
      const screen = this.#tmux('capture-pane', '-p', '-J', '-S', '-500');
      if (typeof words === 'string' ? screen.includes(words) : words.test(screen)) return screen;
      await delay(100);
    }
    throw new Error(`"${words}" never came:\n${this.#tmux('capture-pane', '-p', '-J', '-S', '-500')}`);
  }

  [Symbol.dispose](): void {
    try {
      this.#tmux('kill-server');
    } catch {
      // It has left by itself.
    }
  }

  #tmux(...args: string[]): string {
    return execFileSync('tmux', ['-S', this.#socket, ...args], { encoding: 'utf8' });
  }
}

/** The command line of a chat with this model. */
function chatCommand(place: CliFixture, modelUrl: string, more: Readonly<Record<string, string>> = {}): string {
  mkdirSync(join(place.top, 'home'), { recursive: true });
  const env = {
    ...place.env,
    TERM: 'xterm-256color',
    TOOLWRIGHT_PROVIDER: 'anthropic',
    TOOLWRIGHT_MODEL_BASE_URL: modelUrl,
    TOOLWRIGHT_ALLOW: 'bash(sleep *)',
    ...more,
  };
  const variables = Object.entries(env).map(([name, value]) => `${name}='${value}'`);
  const program = `'${process.execPath}' '${ROOT}/node_modules/tsx/dist/cli.mjs' '${ROOT}/src/cli/main.ts'`;
  return `env -i ${variables.join(' ')} ${program} chat -w '${place.workspace}'`;
}

test('chat in a terminal: Ctrl-C takes back a line, a call is edited in place, Ctrl-C stops a command, two of them or Ctrl-D leave', {
  timeout: 120_000,
}, async () => {
  using place = createCliFixture(process.env.PATH, { 'a.txt': 'old text' });
  const turns = [
    { text: 'I change it.', calls: [{ name: 'write_file', args: { path: 'a.txt', content: 'by model' } }] },
    { text: 'Changed.' },
    { text: 'I wait.', calls: [{ name: 'bash', args: { command: 'sleep 300' } }] },
  ];
  await using model = await modelServer((_, index) => anthropicReply(turns[index] ?? { text: 'Hm.' }, index));
  const chat = chatCommand(place, model.url);
  const command = `${chat}; echo "left with $?"; ${chat}; echo "left again with $?"; sleep 60`;
  using terminal = new Terminal(join(place.top, 'tmux'), command);

  await terminal.sees('you>');
  terminal.type('a line to forget', 'C-c');
  await terminal.sees('Press Ctrl-C again');
  terminal.type('change a.txt', 'Enter');
  await terminal.sees('Allow write_file?');
  terminal.type('e', 'Enter');
  await terminal.sees('arguments>');
  // The arguments stand in the line, to be changed; here they are written anew.
  await terminal.sees('"content":"by model"');
  terminal.type('C-u', '{"path":"a.txt","content":"by me"}', 'Enter');
  await terminal.sees('Changed.');
  expect(readFileSync(join(place.workspace, 'a.txt'), 'utf8')).toBe('by me');
  expect(model.requests[0]?.body.messages[0].content[0].text).toBe('change a.txt');
  const told = model.requests[1]?.body.messages.at(-1).content[0].content;
  expect(told).toContain('The person who approved this changed');

  terminal.type('wait a long time', 'Enter');
  await terminal.sees('▸ bash');
  await delay(500);
  terminal.type('C-c');
  await terminal.sees('✗ stopped');
  const screen = await terminal.sees('interrupted');
  expect(screen).toContain('Stopping …');
  terminal.type('C-c');
  await terminal.sees('Press Ctrl-C again');
  terminal.type('C-c');
  await terminal.sees(/left with 0\n[\s\S]*you>/);
  terminal.type('C-d');
  await terminal.sees('left again with 0');
});

test('what is pasted is one message, and what is typed ahead is shown, answers nothing and is dropped by Ctrl-C', {
  timeout: 120_000,
}, async () => {
  using place = createCliFixture(process.env.PATH, { 'a.txt': 'old text' });
  const turns = [
    { text: 'I wait.', calls: [{ name: 'bash', args: { command: 'sleep 300' } }] },
    { text: 'I ask.', calls: [{ name: 'write_file', args: { path: 'a.txt', content: 'new' } }] },
    { text: 'Refused.' },
  ];
  await using model = await modelServer((_, index) => anthropicReply(turns[index] ?? { text: 'Hm.' }, index));
  using terminal = new Terminal(join(place.top, 'tmux'), chatCommand(place, model.url));

  await terminal.sees('you>');
  terminal.type('/read_f', 'Tab');
  await terminal.sees('/read_file');
  terminal.type('C-u', '/mode pl', 'Tab');
  await terminal.sees('/mode plan');
  terminal.type('Enter');
  await terminal.sees('Mode: plan');
  terminal.type('/mode ask', 'Enter');
  await terminal.sees('Mode: ask');
  const trace = 'Traceback:\n  File "a.py", line 1\n\tfail()';
  terminal.type('Explain ');
  terminal.paste(trace);
  await terminal.sees('Explain [pasted 1: 3 lines]');
  terminal.type('Enter');
  await terminal.sees('▸ bash');
  expect(model.requests[0]?.body.messages[0].content[0].text).toBe(`Explain ${trace}`);
  terminal.type('y', 'Enter');
  await terminal.sees('Queued, sent when this is done (Ctrl-C drops it): y');
  terminal.type('C-c');
  await terminal.sees('Dropped: 1 queued message.');
  await terminal.sees('✗ stopped');

  terminal.type('write', 'Enter');
  await terminal.sees('Allow write_file?');
  terminal.type('n', 'Enter');
  await terminal.sees('Reason for the model');
  terminal.paste('not now\nand not like this');
  terminal.type('Enter');
  await terminal.sees('Refused.');
  expect(readFileSync(join(place.workspace, 'a.txt'), 'utf8')).toBe('old text');
  expect(model.requests).toHaveLength(3);
});

test('a running command shows its last lines and the elapsed time, and its end takes them away', {
  timeout: 120_000,
}, async () => {
  using place = createCliFixture(process.env.PATH);
  const command = 'seq 40; until [ -e go ]; do sleep 0.1; done; echo end';
  const turns = [{ text: 'I build.', calls: [{ name: 'bash', args: { command } }] }, { text: 'Built.' }];
  await using model = await modelServer((_, index) => anthropicReply(turns[index] ?? { text: 'Hm.' }, index));
  const more = { TOOLWRIGHT_MODE: 'auto' };
  using terminal = new Terminal(join(place.top, 'tmux'), chatCommand(place, model.url, more));
  await terminal.sees('you>');
  terminal.type('build', 'Enter');
  const screen = await terminal.sees(/40\n +bash is running: [1-9]\d* s/);
  expect(screen).toMatch(/ 35\n/);
  expect(screen).not.toMatch(/ 34\n/);
  terminal.type('C-c');
  await terminal.sees('✗ stopped');
  expect(await terminal.sees('you>')).not.toContain('is running');
});
