import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createCliFixture } from '../testing/cli-fixture.ts';
import { openHost } from './open-host.ts';
import type { LogPlace } from './open-log.ts';

interface Opening {
  env?: Record<string, string>;
  flags?: Record<string, string>;
  when?: LogPlace['when'];
}

/** The lines that a host logs about a call that succeeds and one that fails. */
async function logged({ env = {}, flags = {}, when = 'always' }: Opening) {
  using place = createCliFixture(process.env['PATH'], { 'a.txt': 'x' });
  const stream = new PassThrough();
  const host = await openHost({
    workspaces: [place.workspace],
    env: { ...place.env, ...env },
    home: place.top,
    flags,
    takeOver: false,
    logTo: { stream, when },
  });
  if (!host.ok) throw new Error(host.error.message);
  for (const { executor, context } of host.value.apps.values()) {
    await executor.execute('read_file', context, { path: 'a.txt' });
    await executor.execute('read_file', context, { path: 'gone hunter2hunter2' });
  }
  host.value.log.error({ key: 'hunter2hunter2' }, 'The door: hunter2hunter2');
  await host.value.close();
  const lines = String(stream.read() ?? '').split('\n');
  return lines.filter(Boolean).map((line) => JSON.parse(line) as { level: number; msg: string; key?: string });
}

const [INFO, WARN, ERROR] = [30, 40, 50];

test('a server logs what went wrong, and what else happened at a lower level', async () => {
  const usual = await logged({});
  expect(usual.map(({ level }) => level)).toEqual([WARN, ERROR]);
  expect(usual[0]?.msg).toContain('Tool read_file failed');
  const more = await logged({ flags: { 'log-level': 'info' } });
  expect(more.filter(({ level }) => level === INFO).map(({ msg }) => msg)).toContain('Tool read_file succeeded');
  expect(await logged({ env: { TOOLWRIGHT_LOG_LEVEL: 'silent' } })).toEqual([]);
});

test('a single command logs only at a level that somebody chose', async () => {
  expect(await logged({ when: 'chosen' })).toEqual([]);
  expect(await logged({ when: 'chosen', env: { TOOLWRIGHT_LOG_LEVEL: '' } })).toEqual([]);
  const chosen = await logged({ when: 'chosen', env: { TOOLWRIGHT_LOG_LEVEL: 'warn' } });
  expect(chosen.map(({ level }) => level)).toEqual([WARN, ERROR]);
});

test('what records hide is not in the log either', async () => {
  const lines = await logged({ env: { DEPLOY_TOKEN: 'hunter2hunter2' }, flags: { logLevel: 'debug' } });
  expect(lines.at(-1)).toMatchObject({ level: ERROR, msg: 'The door: [redacted]', key: '[redacted]' });
  expect(JSON.stringify(lines)).not.toContain('hunter2');
});
