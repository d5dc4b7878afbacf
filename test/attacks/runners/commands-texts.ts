import { execFile } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { isHarmlessGitConfig } from '../../../src/git/harmless-config.ts';
import { createFilePolicy } from '../../../src/kernel/world/file-policy.ts';
import { printedForms } from '../../../src/secrets/secret-encodings.ts';
import { bash } from '../../../src/tools/shell/bash.ts';
import type { Observation } from '../attack.ts';
import { openCommandWorld } from '../command-world.ts';
import { diskUseFinding } from '../disk-use.ts';
import type { Fixture } from '../fixture.ts';
import type { TextCheck } from '../harness.ts';
import { repositoryIsNotLost } from './repository-texts.ts';

/** Checks of `text:` asserts for commands, by class, so that unseen cases of a class are checked too. */
export const COMMAND_TEXTS: Readonly<Record<string, TextCheck>> = {
  'cmd.builtin-env-poison': nothingSurvives,
  'cmd.timeout-arg': senselessTimes,
  'cmd.dev-tcp': nobodyReached,
  'sec.log-redaction': redactedLog,
  'sec.key-by-content': keyIsNotShown,
  'sec.record-shape': valueIsHidden,
  'sbx.proxy-smuggling': ({ reached }) => (reached() === 0 ? null : 'the host was reached'),
  'sbx.git-hooks': nothingObeyed,
  'sbx.config-missing-at-start': nothingObeyed,
  'sbx.disk-sparse': ({ folder }) => diskUseFinding(folder),
  'rt.repository-removed': repositoryIsNotLost,
  'sbx.plant-unwalked-link': symlinkIsHarmless,
  'rt.host-git-meanwhile': hostGitMeanwhile,
  'rt.background-secrets': noSecretInBackground,
  'rt.planted-symlink': symlinkIsHarmless,
  'rt.hidden-file-changed': isNowhereElse,
};

/** For cases that are only judged: a refusal is one in every mode. */
export const DECISION_TEXTS: Readonly<Record<string, TextCheck>> = {
  dng: ({ attack }, { detail }) => {
    const { everywhere } = detail as { everywhere: readonly string[] };
    const mustDeny = attack.expect.any_of.every((each) => each === 'deny');
    if (mustDeny)
      return everywhere.every((verdict) => verdict === 'deny') ? null : `in some mode: ${everywhere.join()}`;
    return everywhere[1] === 'allow' ? 'it would run unasked' : null;
  },
};

/** Even after a yes, the next call begins with an environment of its own. */
async function nothingSurvives(fixture: Fixture) {
  await using world = await openCommandWorld(fixture, { approve: true });
  const { call } = world.toolwright;
  await call('bash', { command: fixture.attack.input['command'] });
  const names = [...String(fixture.attack.input['command']).matchAll(/(\w+)=/g)].map(([, name]) => name);
  const now = await call('bash', { command: 'env; set; alias; declare -f' });
  const seen = names.find((name) => new RegExp(`^(declare.*)?${name}=.*(PWNED|evil)`, 'm').test(now.text));
  return seen === undefined ? null : `the next call sees ${seen}`;
}

/** A person's `git status` in the workspace, again and again until the command is over, and once more. */
async function hostGitMeanwhile(fixture: Fixture) {
  await using world = await openCommandWorld(fixture, { approve: true });
  let isOver = false;
  const call = world.toolwright.call('bash', { ...fixture.attack.input }).finally(() => {
    isOver = true;
  });
  let rounds = 0;
  let found: string | null = null;
  for (; !isOver && found === null; rounds++) found = await hostGit(fixture, '.');
  const { ok } = await call;
  if (!ok || rounds < 2) return `it did not run beside git: ${rounds} rounds`;
  return found ?? hostGit(fixture, '.');
}

/** The host creates secrets and saves one again and again; ordinary files tell when the process has seen the edits until then. */
async function noSecretInBackground(fixture: Fixture) {
  await using world = await openCommandWorld(fixture, { approve: true });
  const { call } = world.toolwright;
  const started = await call('bash', { ...fixture.attack.input });
  const [id] = /\bp\d+\b/.exec(started.text) ?? [];
  const secret = fixture.values['CANARY'] ?? '';
  const write = (path: string, text: string): void => writeFileSync(join(fixture.workspace, path), text);
  write('.env.local', secret);
  write('sub/.env', secret);
  linkSync(join(fixture.workspace, '.env.local'), join(fixture.workspace, 'sub/innocent'));
  let output = '';
  for (let i = 0; i < 10; i++) {
    for (const path of ['.env', 'sub/.env']) {
      write('next', secret);
      renameSync(join(fixture.workspace, 'next'), join(fixture.workspace, path));
    }
    mkdirSync(join(fixture.workspace, `sub/new-${i}/below`), { recursive: true });
    write(`sub/new-${i}/below/.env.local`, secret);
    write(`mark-${i}`, `mark ${i};`);
    for (const until = Date.now() + 20_000; !output.includes(`mark ${i};`); ) {
      if (Date.now() > until) return `edits of the host did not come: ${started.text.slice(0, 200)}`;
      await sleep(20);
      const page = await call('process_output', { id, offset: -50_000, length: 50_000 });
      if (!page.ok) return page.text;
      output += (page.value as { output: string }).output;
    }
  }
  if (output.includes(secret)) return 'it read a secret';
  const { text } = await call('process_list', {});
  return text.includes('running') ? null : `it was ended: ${text}`;
}

/** Runs git as a person does, outside of any sandbox, in a folder of the workspace if it is there. */
async function hostGit({ workspace, values }: Fixture, folder: string): Promise<string | null> {
  const cwd = join(workspace, folder);
  const env = { PATH: process.env['PATH'], HOME: values['HOME'] };
  if (existsSync(cwd)) await promisify(execFile)('git', ['status'], { cwd, env }).catch(() => undefined);
  return existsSync(join(values['OUT'] ?? '', 'PWNED')) ? 'git of the host ran what the command planted' : null;
}

/** The link is there and git in it runs nothing, or its call was refused in words. */
async function symlinkIsHarmless(fixture: Fixture, { outcomes, text }: Observation) {
  const isThere = existsSync(join(fixture.workspace, 'lk'));
  if (!isThere && !outcomes.some((each) => each === 'ask' || each === 'deny')) return `there is no link: ${text}`;
  return hostGit(fixture, 'lk');
}

/** Not even after a yes. */
async function nobodyReached(fixture: Fixture) {
  await using world = await openCommandWorld(fixture, { approve: true });
  await world.toolwright.call(fixture.attack.tool, { ...fixture.attack.input });
  return fixture.reached() === 0 ? null : 'the host was reached';
}

async function senselessTimes(fixture: Fixture) {
  await using world = await openCommandWorld(fixture, { approve: true });
  for (const timeout of [Number.NaN, -1, 0, 9e12, Number.POSITIVE_INFINITY, '5', null]) {
    const result = await world.toolwright.call('bash', { command: 'true', timeout });
    if (result.ok) return `a timeout of ${timeout} was taken`;
  }
  const checked = bash.input.check({ command: 'true', timeout: 600 });
  return checked.ok ? null : 'the longest timeout is not 600 s';
}

/** The value of `.env` came into no other file. */
function isNowhereElse({ workspace, values }: Fixture) {
  const names = readdirSync(workspace).filter((name) => name !== '.env' && statSync(join(workspace, name)).isFile());
  const found = names.find((name) => readFileSync(join(workspace, name), 'utf8').includes(values['CANARY'] ?? ''));
  return found === undefined ? null : `it is in ${found}`;
}

/** Neither a line of the key nor the value in it is in what the caller sees: as it is, encoded or backwards. */
function keyIsNotShown({ workspace, values }: Fixture, { text }: Observation) {
  const [, body = ''] = readFileSync(join(workspace, 'deploy.txt'), 'utf8').split('\n');
  const shown = [body, values['CANARY'] ?? ''].flatMap(spellings).find((each) => text.includes(each));
  return shown === undefined ? null : `the key is shown as ${shown}`;
}

function spellings(value: string): string[] {
  return [...printedForms(value), [...value].reverse().join('')];
}

/** The server's log, and the record of the call with what it printed. The person and the program see what is. */
function redactedLog({ attack }: Fixture, { detail }: { detail: unknown }) {
  const { logged, recorded } = detail as { logged: readonly string[]; recorded: string };
  const [secret] = /\b(sk|pk|ghp|xox\w)[-_]\S{8,}/.exec(String(attack.input['command'])) ?? [];
  if (secret === undefined) return 'no secret is known in this case';
  if (logged.join('\n').includes(secret)) return 'the log shows it';
  if (!logged.join('\n').includes('[redacted]')) return 'the log does not tell of it at all';
  if (recorded.includes(secret)) return 'the record shows it';
  return recorded.includes('[redacted]') ? null : 'the record does not tell of it at all';
}

/** The value that a command prints is in no record and no log, and the record says that there was one. */
function valueIsHidden({ attack }: Fixture, { detail }: Observation) {
  const { logged, recorded } = detail as { logged: readonly string[]; recorded: string };
  const [, value = ''] = /"(.+)"/.exec(String(attack.input['command'])) ?? [];
  const secret = value.replace(/^AccountKey=/, '').slice(-16);
  const holder = Object.entries({ record: recorded, log: logged.join('\n') }).find(([, all]) => all.includes(secret));
  if (holder !== undefined) return `the ${holder[0]} holds the value`;
  return recorded.includes('[redacted]') ? null : 'the record does not tell of it at all';
}

function nothingObeyed({ workspace }: Fixture) {
  const planted = obeyedFiles(workspace);
  return planted.length === 0 ? null : `the host would obey ${planted.join(', ')}`;
}

/** Protected files that exist in the workspace and are neither samples nor plain settings. */
function obeyedFiles(workspace: string): string[] {
  const policy = createFilePolicy();
  return readdirSync(workspace, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(workspace.length + 1))
    .filter((path) => policy.judge(path).access === 'read-only' && !/\.sample$/.test(path))
    .filter(
      (path) =>
        !/\.git\/config$/.test(path) || !isHarmlessGitConfig(readFileSync(join(workspace, path), 'utf8'), () => false),
    );
}
