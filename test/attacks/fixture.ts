import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { removeTree } from '../../src/host/remove-tree.ts';
import { type Attack, fillIn } from './attack.ts';
import { type CaseSettings, trackSettings } from './case-settings.ts';
import { checkFilled, checkSetup } from './case-setup.ts';

/** The throwaway world of one case: folders, canaries, listeners that count who reached them. */
export interface Fixture extends AsyncDisposable {
  readonly values: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly workspace: string;
  /** The case with its placeholders filled in. */
  readonly attack: Attack;
  /** Connections that reached a listener of the host: there must be none from inside. */
  reached(): number;
  readonly settings: CaseSettings;
  /** The `cfg:` lines that the runner has not looked at so far. */
  unreadSettings(): string[];
  /** The search path that an `env:` line gives the runtime; null for one without the sandbox's program. */
  readonly path: string | null;
}

export async function createFixture(template: Attack): Promise<Fixture> {
  checkSetup(template);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'attack-')));
  const [workspace, out, home] = [join(folder, 'ws'), join(folder, 'out'), join(folder, 'home')];
  for (const each of [
    join(workspace, 'src'),
    out,
    join(home, '.ssh'),
    join(folder, 'tmp'),
    join(folder, 'static/assets'),
  ])
    mkdirSync(each, { recursive: true });
  writeFileSync(join(workspace, 'ok.txt'), 'ok');
  writeFileSync(join(out, 'secret.txt'), 'CANARY-OUT');
  let reached = 0;
  const listeners: Server[] = [];
  const listen = async (where: { path: string } | { port: number; host: string }): Promise<Server> => {
    const server = createServer((socket) => {
      reached++;
      socket.on('error', () => socket.destroy());
      socket.end();
    });
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(where, resolve));
    listeners.push(server);
    return server;
  };
  const server = await listen({ port: 0, host: '127.0.0.1' });
  const secret = (): string => randomBytes(12).toString('hex');
  const canary = `CANARY-${secret()}`;
  const values = {
    T: folder,
    WS: workspace,
    OUT: out,
    HOME: home,
    HOSTTMP: tmpdir(),
    CANARY: canary,
    ...spelled(canary),
    MARK: `MARK-${secret()}`,
    TOKEN: `TOKEN-${secret()}`,
    OLD_TOKEN: `TOKEN-${secret()}`,
    ID: secret(),
    PORT: String((server.address() as AddressInfo).port),
    RUNTIME_PID: String(process.pid),
  };
  const attack = fillIn(template, values);
  checkFilled(attack);
  const tracked = trackSettings(attack);
  const environment: Record<string, string> = {};
  let path: string | null = process.env['PATH'] ?? '';

  for (const line of attack.setup) {
    const [, kind, text = ''] = /^(\w+):\s*(.*)$/s.exec(line) ?? [];
    const filler = kind === 'sh' ? /^(\d+) MB of "(\w+)" in (\/\S+)$/.exec(text) : null;
    if (filler !== null) writeFiller(filler);
    else if (kind === 'sh')
      execFileSync('/bin/bash', ['-c', plainShell(text, folder)], {
        cwd: folder,
        env: { PATH: process.env['PATH'], HOME: home },
        stdio: 'ignore',
      });
    if (kind === 'state') await setState(text, listen);
    const changed = kind === 'state' ? /session read (\S+), then it was changed/.exec(text)?.[1] : undefined;
    if (changed !== undefined) writeFileSync(join(workspace, changed), 'as an editor left it');
    if (kind === 'env' && /PATH without/.test(text)) path = null;
    else if (kind === 'env' && text.startsWith('PATH='))
      path = text.slice(5).replace('$PATH', process.env['PATH'] ?? '');
    else if (kind === 'env') Object.assign(environment, variables(text));
  }
  Object.assign(process.env, environment);

  return {
    values,
    folder,
    workspace,
    attack,
    path,
    reached: () => reached,
    settings: tracked.settings,
    unreadSettings: tracked.unread,
    async [Symbol.asyncDispose]() {
      for (const name of Object.keys(environment)) delete process.env[name];
      await Promise.all(listeners.map((each) => new Promise((resolve) => each.close(resolve))));
      unmountBelow(folder);
      removeTree(folder, { maxRetries: 10, retryDelay: 100 });
      rmSync(join(tmpdir(), 'toolwright-canary'), { force: true });
    },
  };
}

/** The canary as somebody would write it who wants it to pass unnoticed. */
function spelled(canary: string): Record<string, string> {
  const bytes = Buffer.from(canary);
  return {
    CANARY_BACKWARDS: [...canary].reverse().join(''),
    CANARY_BASE32: base32(bytes),
    CANARY_BASE64_TWICE: Buffer.from(bytes.toString('base64')).toString('base64url'),
    CANARY_HEX_COLONS: (bytes.toString('hex').match(/../g) ?? []).join(':'),
    CANARY_WITHOUT_LAST: canary.slice(0, -1),
    CANARY_FIRST_HALF: canary.slice(0, canary.length / 2),
    CANARY_SECOND_HALF: canary.slice(canary.length / 2),
  };
}

function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? [])
    .map((five) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(five.padEnd(5, '0'), 2)])
    .join('');
}

async function setState(text: string, listen: (where: { path: string }) => Promise<Server>): Promise<void> {
  const abstract = /abstract socket \\0(\S+)/.exec(text)?.[1];
  if (abstract !== undefined) await listen({ path: `\0${abstract}` });
  const file = /(?:listens on|socket at) (\/\S+\.sock)/.exec(text)?.[1];
  if (file === undefined) return;
  mkdirSync(dirname(file), { recursive: true });
  await listen({ path: file });
}

/** Removes the notes for people that a set-up has beside its command. */
function plainShell(text: string, folder: string): string {
  return text
    .replace('<static dir>', join(folder, 'static/assets'))
    .replace(/\(test(?:-owned mount| copy of the static dir)\)/, '');
}

/** `A, B = value in the runtime` or `A=value`. */
function variables(text: string): Record<string, string> {
  const [, names = '', value = ''] = /^([A-Z0-9_, ]+?)\s*=\s*(\S+)/.exec(text) ?? [];
  return Object.fromEntries(
    names
      .split(',')
      .map((name) => [name.trim(), value])
      .filter(([name]) => name !== ''),
  );
}

function writeFiller([, size, word = 'x', path = '']: readonly string[]): void {
  const bytes = Number(size) * 1024 * 1024;
  writeFileSync(path, word.repeat(Math.ceil(bytes / word.length)).slice(0, bytes));
}

/** Unmounts everything that the set-up mounted in the throwaway folder. */
function unmountBelow(folder: string): void {
  const mounts = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '');
  for (const mount of mounts.filter((path) => path.startsWith(`${folder}/`)).reverse()) {
    execFileSync('umount', ['-l', mount]);
  }
}
