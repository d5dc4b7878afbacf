import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ExecutionContext } from '../kernel/call/execution-context.ts';
import { createFilePolicy } from '../kernel/world/file-policy.ts';
import { createPolicy } from './create-policy.ts';
import type { Mode } from './mode.ts';

const commands = readFileSync(new URL('../../bench/developer-commands.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));
const context = new ExecutionContext({ workingDir: '/home/ana/project' });

function explained(mode: Mode) {
  const policy = createPolicy({ mode, rules: [], files: createFilePolicy(), home: '/home/ana' });
  const own = { tool: 'bash', args: {}, effect: 'once', ownReason: undefined, asksAlways: false, context } as const;
  return commands.map((command) => ({
    command,
    ...policy.explain({ ...own, access: [{ kind: 'process.run', command, writes: 'stage' }] }),
  }));
}

/** They need the network, or reach what is outside the workspace. */
const ASKED = [
  'npm install',
  'npm install lodash',
  'npm install -D typescript vitest',
  'npm ci',
  'yarn install',
  'pip install -r requirements.txt',
  'pip install -e .',
  'uv sync',
  'go mod tidy',
  'mvn -q package',
  './gradlew test',
  'rm -rf node_modules && npm install',
  'docker build -t app .',
  'curl -s http://localhost:3000/health',
  'docker compose up -d',
  'git push origin feature/login',
  'git pull --rebase',
];

test('of 200 ordinary commands, mode ask asks in words only about the network and effects outside', () => {
  expect(commands.length).toBe(200);
  const asked = explained('ask').filter(({ verdict }) => verdict !== 'allow');
  expect(asked.map(({ command }) => command)).toEqual(ASKED);
  expect(asked.length).toBeLessThanOrEqual(25);
  expect(new Set(asked.map(({ verdict, rule }) => `${verdict} ${rule}`))).toEqual(
    new Set(['ask network', 'ask outside effect']),
  );
});

test('those that are not asked about get a stage and no network; in mode auto all get the network', () => {
  for (const { command, verdict, access } of explained('ask'))
    expect([command, access]).toEqual([
      command,
      [{ kind: 'process.run', command, writes: 'stage', ...(verdict === 'ask' && { network: true }) }],
    ]);
  for (const { command, verdict, access } of explained('auto'))
    expect([command, verdict, access]).toEqual([
      command,
      'allow',
      [{ kind: 'process.run', command, writes: 'stage', network: true }],
    ]);
});

test('mode plan runs all of them in a stage without network', () => {
  for (const { command, verdict, access } of explained('plan'))
    expect([command, verdict, access]).toEqual([command, 'allow', [{ kind: 'process.run', command, writes: 'stage' }]]);
});
