import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createFilePolicy } from '../../kernel/world/file-policy.ts';
import { createPolicy } from '../../policy/create-policy.ts';
import { MODES } from '../../policy/mode.ts';
import { parseRules, type RuleSet } from '../../policy/rules/parse-rules.ts';
import { tempWorkspace } from '../../testing/temp-workspace.ts';
import { builtInTools } from '../../tools/index.ts';
import { createToolwright } from '../create-toolwright.ts';

type FailingCall = readonly [tool: string, args: Record<string, unknown>, code: string];

const patch = (path: string) => `*** Begin Patch\n*** Update File: ${path}\n@@\n-zzz\n+x\n*** End Patch\n`;

/** Calls that cannot work, for a file with the text "one" in Latin-1. */
const failing = (path: string): FailingCall[] => [
  ['edit_file', { path, edits: [{ old: 'zzz', new: 'x' }] }, 'INVALID_INPUT'],
  ['edit_file', { path: `${path}.no`, edits: [{ old: 'a', new: 'x' }] }, 'FILE_NOT_FOUND'],
  ['write_file', { path, content: '%%%', encoding: 'base64' }, 'INVALID_INPUT'],
  ['write_file', { path, content: '\u4e2d' }, 'INVALID_INPUT'],
  ['write_file', { path, content: 'x', version: '0123456789abcdef' }, 'CONFLICT'],
  ['delete_file', { path: `${path}.no` }, 'FILE_NOT_FOUND'],
  ['move_file', { from: `${path}.no`, to: 'b.txt' }, 'FILE_NOT_FOUND'],
  ['apply_patch', { patch: patch(path) }, 'INVALID_INPUT'],
  ['apply_patch', { patch: 'nonsense' }, 'INVALID_INPUT'],
];

/** The codes that a real policy of this mode gives, and the questions that were asked. */
async function codesOf(mode: (typeof MODES)[number], rules: RuleSet, path: string) {
  const files = { 'pub/a.txt': '', 'private/a.txt': '', '.husky/a.txt': '' };
  const ws = await tempWorkspace({ files });
  await using _ = ws;
  for (const each of Object.keys(files)) writeFileSync(ws.file(each), Buffer.from('one \xe9\n', 'latin1'));
  symlinkSync('private', ws.file('link'));
  const parsed = parseRules(rules);
  if (!parsed.ok) throw new Error(parsed.error.message);
  const policy = createPolicy({ mode, rules: parsed.value, files: createFilePolicy(), home: '/home/ana' });
  const asked: string[] = [];
  const approver = ({ tool }: { tool: string }) => {
    asked.push(tool);
    return { approved: true };
  };
  const { call } = createToolwright({ tools: builtInTools, world: ws.workspace, policy, approver });
  const codes: (string | undefined)[] = [];
  for (const [tool, args] of failing(path)) codes.push((await call(tool, args)).error?.code);
  for (const each of Object.keys(files)) expect(readFileSync(ws.file(each), 'latin1')).toBe('one \xe9\n');
  return { codes, asked };
}

test.each(MODES)('a call that cannot work has the code of its tool in mode %s, and nobody is asked', async (mode) => {
  const own = failing('').map(([, , code]) => code);
  for (const path of ['pub/a.txt', '.husky/a.txt']) {
    expect(await codesOf(mode, {}, path), path).toEqual({ codes: own, asked: [] });
    const rules = { ask: ['edit_file(**)', 'delete_file(**)'], allow: ['write_file(**)'] };
    expect(await codesOf(mode, rules, path), path).toEqual({ codes: own, asked: [] });
  }
});

test.each(MODES)('at a path that a rule or the file policy denies it is denied in mode %s', async (mode) => {
  const tools = ['edit_file', 'write_file', 'delete_file', 'move_file', 'apply_patch'];
  const deny = tools.map((tool) => `${tool}(private/**)`);
  const denied = failing('').map(([tool, args]) =>
    // A patch that cannot be read names no path.
    tool === 'apply_patch' && args['patch'] === 'nonsense' ? 'INVALID_INPUT' : 'PERMISSION_DENIED',
  );
  for (const path of ['private/a.txt', 'link/a.txt']) {
    expect(await codesOf(mode, { deny }, path), path).toEqual({ codes: denied, asked: [] });
  }
  expect(await codesOf(mode, {}, '.ssh/id_rsa')).toEqual({ codes: denied, asked: [] });
});
