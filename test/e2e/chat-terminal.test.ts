import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createCliFixture } from '../../src/testing/cli-fixture.ts';
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

test('chat in a terminal: Ctrl-C takes back a line, a call is edited in place, Ctrl-C stops a command, two of them or Ctrl-D leave', {
  timeout: 120_000,
}, async () => {
  using place = createCliFixture(process.env.PATH, { 'a.txt': 'old text' });
  mkdirSync(join(place.top, 'home'));
  const turns = [
    { text: 'I change it.', calls: [{ name: 'write_file', args: { path: 'a.txt', content: 'by model' } }] },
    { text: 'Changed.' },
    { text: 'I wait.', calls: [{ name: 'bash', args: { command: 'sleep 300' } }] },
  ];
  await using model = await modelServer((_, index) => anthropicReply(turns[index] ?? { text: 'Hm.' }, index));
  const env = {
    ...place.env,
    TERM: 'xterm-256color',
    TOOLWRIGHT_PROVIDER: 'anthropic',
    TOOLWRIGHT_MODEL_BASE_URL: model.url,
    TOOLWRIGHT_ALLOW: 'bash(sleep *)',
  };
  const variables = Object.entries(env).map(([name, value]) => `${name}='${value}'`);
  const program = `'${process.execPath}' '${ROOT}/node_modules/tsx/dist/cli.mjs' '${ROOT}/src/cli/main.ts'`;
  const chat = `env -i ${variables.join(' ')} ${program} chat -w '${place.workspace}'`;
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
