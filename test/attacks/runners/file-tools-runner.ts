import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ErrorCode, knownCode } from '../../../src/kernel/error.ts';
import type { ToolResult } from '../../../src/kernel/tool/tool-result.ts';
import type { Toolwright } from '../../../src/runtime/create-toolwright.ts';
import type { Attack, Observation, OutcomeName } from '../attack.ts';
import { generateInput, openFileWorld } from '../file-world.ts';
import type { Fixture } from '../fixture.ts';
import type { Runner } from '../harness.ts';
import { callWhileSwapping } from '../swap-symlinks.ts';
import { FILE_TEXTS } from './file-tools-texts.ts';

/** The file and search tools, through the executor, in a workspace with a journal and, for search, a sandbox. */
export const fileToolsRunner: Runner = {
  kind: 'execute',
  run: (fixture) => runFileTool(fixture),
  texts: FILE_TEXTS,
};

export const FILE_TOOLS = [
  'read_file',
  'write_file',
  'edit_file',
  'apply_patch',
  'delete_file',
  'move_file',
  'list_directory',
  'glob',
  'grep',
];

async function runFileTool(fixture: Fixture): Promise<Observation> {
  const { attack } = fixture;
  const { any_of: fine } = attack.expect;
  const approve = attack.mode !== 'run' || (fine.includes('allow') && !fine.includes('ask'));
  const world = await openFileWorld(fixture, { approve });
  try {
    const startedAt = performance.now();
    const results = await attempts(fixture, world.toolwright);
    const durationMs = performance.now() - startedAt;
    const outcomes = [...new Set(results.flatMap((result) => outcomesOf(result, attack)))];
    const text = results.map((result) => JSON.stringify(result)).join('\n') + world.asked.join('\n');
    return { outcomes, text, durationMs, detail: { results } };
  } finally {
    await world.close();
  }
}

/** One call, several at once, one after the other, or many while somebody swaps links. */
async function attempts(fixture: Fixture, { call, ...toolwright }: Toolwright): Promise<ToolResult[]> {
  const { attack } = fixture;
  const { parallel, sequence, ...args } = generateInput(attack);
  if (attack.class === 'path.toctou-six-tools') return sixToolsWhileSwapping(fixture, { call, ...toolwright });
  if (typeof sequence === 'string') return inSequence(fixture, { call, ...toolwright });
  if (attack.mode === 'race' && attack.class.startsWith('path.')) {
    return callWhileSwapping(fixture, () => call(attack.tool, args));
  }
  if (parallel !== undefined) return Promise.all(variants(attack).map((each) => call(attack.tool, each)));
  await readBefore(fixture, { call, ...toolwright });
  if (attack.tool === 'edit_file' && 'patch' in args) return [await call('apply_patch', args)];
  return [await call(attack.tool, args)];
}

/** Each tool is tried as often as the others, on the folder that is swapped with a symlink. */
function sixToolsWhileSwapping(fixture: Fixture, { call }: Toolwright): Promise<ToolResult[]> {
  const path = String(fixture.attack.input['path']);
  const calls: [string, Record<string, unknown>][] = [
    ['read_file', { path }],
    ['write_file', { path, content: 'OWNED' }],
    ['list_directory', { path: path.slice(0, path.lastIndexOf('/')) }],
    ['edit_file', { path, edits: [{ old: 'CANARY-OUT', new: 'OWNED' }] }],
    ['delete_file', { path }],
    ['move_file', { from: path, to: 'moved.txt', overwrite: true }],
  ];
  let round = 0;
  return callWhileSwapping(fixture, () => call(...(calls[round++ % calls.length] as (typeof calls)[number])));
}

/** Calls that differ in what they write, for cases that give their number and describe them in words. */
function variants({ tool, input }: Attack): Record<string, unknown>[] {
  const { path, parallel } = input;
  return Array.from({ length: Number(parallel) }, (_, index) => {
    if (tool === 'write_file') return { path, content: `${index} `.repeat(200_000) };
    return { path, edits: [{ old: index === 0 ? 'a\n' : 'c\n', new: `changed ${index}\n` }] };
  });
}

/** For the set-up "The session read it, then it was changed on disk": reads the file, then restores its bytes. */
async function readBefore({ attack, workspace }: Fixture, { call }: Toolwright): Promise<void> {
  const path = attack.setup.map((line) => /session read (\S+), then it was changed/.exec(line)?.[1]).find(Boolean);
  if (path === undefined) return;
  const [file, aside] = [join(workspace, path), join(workspace, `${path}.aside`)];
  renameSync(file, aside);
  writeFileSync(file, 'as the session read it');
  await call('read_file', { path });
  renameSync(aside, file);
}

async function inSequence({ workspace }: Fixture, { call }: Toolwright): Promise<ToolResult[]> {
  writeFileSync(join(workspace, 'seq.txt'), 'one\n');
  const results: ToolResult[] = [];
  for (const [tool, args] of [
    ['read_file', {}],
    ['edit_file', { edits: [{ old: 'one', new: 'two' }] }],
    ['edit_file', { edits: [{ old: 'two', new: 'three' }] }],
    ['write_file', { content: 'four\n' }],
  ] as const) {
    results.push(await call(tool, { path: 'seq.txt', ...args }));
  }
  return results;
}

const REFUSALS: Partial<Record<ErrorCode, readonly OutcomeName[]>> = {
  APPROVAL_DENIED: ['ask'],
  APPROVAL_EXPIRED: ['ask'],
  INVALID_PATH: ['deny', 'error'],
  PERMISSION_DENIED: ['deny', 'error'],
};

/** A call that was allowed but failed in the system, such as a write to a full disk, counts as both. */
function outcomesOf(result: ToolResult, { mode }: Attack): readonly OutcomeName[] {
  if (result.ok) return ['allow'];
  if (mode === 'fault' && result.error.code === 'EXECUTION_ERROR') return ['error', 'allow'];
  return REFUSALS[knownCode(result.error.code)] ?? ['error'];
}
