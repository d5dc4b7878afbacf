import { execFile, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Attack, Observation } from '../attack.ts';
import { markedProcesses } from '../check-asserts.ts';
import { openCommandWorld } from '../command-world.ts';
import type { Fixture } from '../fixture.ts';
import type { Runner } from '../harness.ts';
import { observeCalls } from './commands-runner.ts';
import { COMMAND_TEXTS } from './commands-texts.ts';

/** Commands beside which the host runs something, as a person's prompt runs `git status`: while they run, and afterwards. */
export const hostMeanwhileRunner: Runner = { kind: 'execute', run: runBesideHost, texts: COMMAND_TEXTS };

/** Commands whose runtime is killed while they run; it is started again before the host runs something. */
export const killedRuntimeRunner: Runner = { kind: 'execute', run: killRuntime, texts: COMMAND_TEXTS };

const PATIENCE_MS = 60_000;
const ROUNDS = 3;

async function runBesideHost(fixture: Fixture): Promise<Observation> {
  const { attack } = fixture;
  const [sign, script] = wordsOf(attack, /^race: when (\S+) is there, the host runs: (.+)$/);
  await using world = await openCommandWorld(fixture, { approve: true });
  const { call } = world.toolwright;
  const startedAt = performance.now();
  let isOver = false;
  const first = call(attack.tool, { ...attack.input }).finally(() => {
    isOver = true;
  });
  const isBackground = attack.input['background'] === true;
  await untilThere(fixture, sign, () => !isBackground && isOver);
  for (let round = 0; round < ROUNDS; round++) await runOnHost(fixture, script);
  if (isOver && !isBackground) throw new Error('it was over before the host had a turn');
  const results = [await first];
  if (isBackground) results.push(await call('process_stop', { id: /\bp\d+\b/.exec(results[0]?.text ?? '')?.[0] }));
  await runOnHost(fixture, script);
  // It came as far as its sign: how it ended says nothing more.
  const { failed: _, ...seen } = await observeCalls(world, results, performance.now() - startedAt);
  return seen;
}

async function killRuntime(fixture: Fixture): Promise<Observation> {
  const { attack, folder, workspace, values, path, settings } = fixture;
  const [sign, later, script] = wordsOf(
    attack,
    /^fault: SIGKILL the runtime when (\S+) is there; start it again; run bash: (.+?); then the host runs (.+)$/,
  );
  const program = join(import.meta.dirname, '../command-program.ts');
  const given = JSON.stringify({ attack, folder, workspace, values, path, settings: { ...settings } });
  const child = spawn(process.execPath, ['--import', 'tsx', program, given], { stdio: 'ignore' });
  const gone = new Promise((resolve) => child.once('exit', resolve));
  await untilThere(fixture, sign, () => child.exitCode !== null);
  child.kill('SIGKILL');
  await gone;
  const mark = values['MARK'] ?? '';
  for (const until = Date.now() + PATIENCE_MS; markedProcesses(mark).length > 0 && Date.now() < until; )
    await sleep(20);
  await using world = await openCommandWorld(fixture, { approve: true });
  const startedAt = performance.now();
  const result = await world.toolwright.call('bash', { command: later });
  await runOnHost(fixture, script);
  return observeCalls(world, [result], performance.now() - startedAt);
}

function wordsOf({ id, setup }: Attack, shape: RegExp): [string, string, string] {
  const found = setup.map((line) => shape.exec(line)).find((match) => match !== null);
  if (found === undefined || found === null) throw new Error(`${id}: no line of the set-up is like ${shape}.`);
  return [found[1] ?? '', found[2] ?? '', found[3] ?? ''];
}

/** A file that the command makes to say how far it came: in the workspace, or in a stage of it. */
async function untilThere({ folder, workspace }: Fixture, path: string, isOver: () => boolean): Promise<void> {
  const name = path.slice(workspace.length);
  const stages = join(folder, 'state/stages');
  for (const until = Date.now() + PATIENCE_MS; !existsSync(path) && !hasFile(stages, name); ) {
    if (isOver() || Date.now() > until) throw new Error(`the command did not come so far as to make ${name}`);
    await sleep(20);
  }
}

/** Folders of a stage come and go meanwhile. */
function hasFile(folder: string, ending: string): boolean {
  try {
    return readdirSync(folder, { withFileTypes: true }).some((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? hasFile(path, ending) : path.endsWith(ending);
    });
  } catch {
    return false;
  }
}

async function runOnHost({ folder, values }: Fixture, script: string): Promise<void> {
  const env = { PATH: process.env['PATH'], HOME: values['HOME'] };
  await promisify(execFile)('/bin/bash', ['-c', script], { cwd: folder, env }).catch(() => undefined);
}
