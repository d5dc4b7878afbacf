import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { ApprovalRequest, ApprovalResponse, Policy, Subject } from '../../kernel/ports.ts';
import { fail, ok } from '../../kernel/result.ts';
import type { planFailure } from '../../kernel/tool/plan.ts';
import { defineTool } from '../../kernel/tool/tool.ts';
import type { Files, World } from '../../kernel/world/workspace.ts';
import { type TempWorkspace, tempWorkspace } from '../../testing/temp-workspace.ts';
import { builtInTools } from '../../tools/index.ts';
import { createToolwright, type ToolwrightOptions } from '../create-toolwright.ts';

const verdict = (given: 'allow' | 'ask' | 'deny') => ({ verdict: given, rule: 'test', reason: `Says ${given}.` });
const always = (given: 'allow' | 'ask' | 'deny'): Policy => ({ decide: () => verdict(given) });

/** A runtime over a real workspace that counts how often a call reads, rehearses and applies. */
function counting(ws: TempWorkspace, options: ToolwrightOptions) {
  const steps: string[] = [];
  const counted = (files: Files): Files => ({
    ...files,
    readText(path) {
      steps.push('read');
      return files.readText(path);
    },
    rehearse(changes) {
      steps.push('rehearse');
      return files.rehearse(changes);
    },
    apply(changes) {
      steps.push('apply');
      return files.apply(changes);
    },
  });
  const world: World = {
    root: ws.workspace.root,
    files: (caller) => counted(ws.workspace.files(caller)),
    search: (caller) => ws.workspace.search(caller),
  };
  return { steps, ...createToolwright({ tools: builtInTools, world, ...options }) };
}

const EDIT = { path: 'a.txt', edits: [{ old: 'one', new: '1' }] };

describe('a call is planned once', () => {
  test.each([
    ['nobody is asked', 'allow', ['read', 'rehearse', 'apply']],
    ['a person is asked: then once more, before it runs', 'ask', ['read', 'rehearse', 'read', 'rehearse', 'apply']],
  ] as const)('where %s', async (_where, given, expected) => {
    await using ws = await tempWorkspace({ files: { 'a.txt': 'one\n' } });
    const { steps, call } = counting(ws, { policy: always(given), approver: () => ({ approved: true }) });
    expect((await call('edit_file', EDIT)).ok).toBe(true);
    expect(steps).toEqual(expected);
    expect(readFileSync(ws.file('a.txt'), 'utf8')).toBe('1\n');
  });

  test('and the plan that was made last is the one that runs', async () => {
    const made: object[] = [];
    const ran: unknown[] = [];
    const tool = defineTool({
      name: 'act',
      description: 'Acts as planned',
      input: z.object({}),
      plan() {
        const plan = { access: [], approval: 'It acts.' };
        made.push(plan);
        return ok(plan);
      },
      run: (plan) => ok(ran.push(plan)),
    });
    await createToolwright({ tools: [tool], approver: () => ({ approved: true }) }).call('act');
    expect(made.length).toBe(2);
    expect(ran[0]).toBe(made[1]);
  });
});

describe('a call that cannot work', () => {
  const cases: readonly (readonly [tool: string, args: Record<string, unknown>, code: string])[] = [
    ['edit_file', { path: 'a.txt', edits: [{ old: 'zzz', new: 'x' }] }, 'INVALID_INPUT'],
    ['edit_file', { path: 'no.txt', edits: [{ old: 'a', new: 'x' }] }, 'FILE_NOT_FOUND'],
    ['write_file', { path: '../x', content: 'x' }, 'INVALID_PATH'],
    ['write_file', { path: 'a.txt', content: 'x', version: '0123456789abcdef' }, 'CONFLICT'],
    ['delete_file', { path: 'd' }, 'INVALID_INPUT'],
    ['move_file', { from: 'no.txt', to: 'b.txt' }, 'FILE_NOT_FOUND'],
    ['apply_patch', { patch: '*** Begin Patch\n*** Delete File: no.txt\n*** End Patch' }, 'FILE_NOT_FOUND'],
  ];
  const modes: readonly (readonly [string, ToolwrightOptions])[] = [
    ['allowed', { policy: always('allow') }],
    ['asked about', { policy: always('ask') }],
    ['a dry run', { policy: always('ask'), dryRun: true }],
  ];

  test.each(cases)('%s %o is refused at once with %s, and nobody is asked', async (tool, args, code) => {
    await using ws = await tempWorkspace({ files: { 'a.txt': 'one\n', 'd/x': '' } });
    for (const [mode, options] of modes) {
      const asked: unknown[] = [];
      const approver = (request: unknown) => {
        asked.push(request);
        return { approved: true };
      };
      const { call, executor } = createToolwright({ tools: builtInTools, world: ws.workspace, approver, ...options });
      const types: string[] = [];
      executor.on(({ type }) => types.push(type));
      expect((await call(tool, args)).error?.code, mode).toBe(code);
      expect([asked, types], mode).toEqual([[], ['call.requested', 'call.finished']]);
    }
  });

  test('at a denied path is answered with the denial, so that nobody learns what is there', async () => {
    await using ws = await tempWorkspace({ files: { 'private/a.txt': 'one\n' } });
    const hides = (path: string) => path.startsWith('private/');
    const policy: Policy = {
      decide: ({ access }) => verdict(access.some((each) => 'path' in each && hides(each.path)) ? 'deny' : 'allow'),
    };
    const { call } = createToolwright({ tools: builtInTools, world: ws.workspace, policy });
    const texts = new Set<string>();
    for (const path of ['private/a.txt', 'private/no.txt', 'private/a.txt/x']) {
      for (const [tool, args] of [
        ['edit_file', { path, edits: [{ old: 'one', new: 'x' }] }],
        ['edit_file', { path, edits: [{ old: 'zzz', new: 'x' }] }],
        ['write_file', { path, content: '%%%', encoding: 'base64' }],
        ['write_file', { path, content: 'x' }],
        ['delete_file', { path }],
        ['move_file', { from: path, to: 'mine.txt' }],
        ['move_file', { from: 'no.txt', to: path }],
        ['apply_patch', { patch: `*** Begin Patch\n*** Update File: ${path}\n-zzz\n+x\n*** End Patch` }],
        ['apply_patch', { patch: `*** Begin Patch\n*** Delete File: ${path}\n*** End Patch` }],
      ] as const) {
        const { error, text } = await call(tool, args);
        expect(error?.code, `${tool} ${path}`).toBe('PERMISSION_DENIED');
        texts.add(text);
      }
    }
    expect([...texts]).toEqual(['Error: Says deny.']);
  });

  test('may work after an earlier call of its batch: it is planned again after that one', async () => {
    await using ws = await tempWorkspace();
    const { executor, context } = createToolwright({
      tools: builtInTools,
      world: ws.workspace,
      policy: always('allow'),
    });
    const results = await executor.executeMany(
      [
        { tool: 'write_file', args: { path: 'a.txt', content: 'one\n' } },
        { tool: 'edit_file', args: EDIT },
        { tool: 'move_file', args: { from: 'a.txt', to: 'b.txt' } },
        { tool: 'edit_file', args: EDIT },
      ],
      context,
    );
    expect(results.map(({ error }) => error?.code)).toEqual([undefined, undefined, undefined, 'FILE_NOT_FOUND']);
    expect(readFileSync(ws.file('b.txt'), 'utf8')).toBe('1\n');
  });

  test('fails with the words of its tool, also where that names no access', async () => {
    const tool = (plan: () => ReturnType<typeof planFailure>) =>
      defineTool({ name: 'act', description: 'Acts', input: z.object({}), plan, run: () => ok('ran') });
    const failure = fail('TOO_LARGE', 'It is too large: split it.') as ReturnType<typeof planFailure>;
    const { call } = createToolwright({ tools: [tool(() => failure)], policy: always('ask') });
    expect((await call('act')).error).toMatchObject({ code: 'TOO_LARGE', message: 'It is too large: split it.' });
    const denying = createToolwright({ tools: [tool(() => failure)], policy: always('deny') });
    expect((await denying.call('act')).error?.code).toBe('PERMISSION_DENIED');
  });
});

describe('an approval', () => {
  async function answered(answer: (request: ApprovalRequest, ws: TempWorkspace) => ApprovalResponse) {
    const requests: ApprovalRequest[] = [];
    const ws = await tempWorkspace({
      files: { 'a.txt': 'one\n', 'd/x': 'x' },
      options: {
        approver(request) {
          requests.push(request);
          return answer(request, ws);
        },
      },
    });
    return { ws, requests };
  }

  test('is bound to the versions of the files that the plan changes', async () => {
    const { ws, requests } = await answered(() => ({ approved: false }));
    await using _ = ws;
    const ask = async () => {
      await ws.call('edit_file', EDIT);
      return requests.at(-1);
    };
    const [first, second] = [await ask(), await ask()];
    expect(second?.digest).toBe(first?.digest);
    expect(first?.shown.seen).toEqual({ 'a.txt': expect.stringMatching(/^[0-9a-f]{16}$/) });
    writeFileSync(ws.file('a.txt'), 'one\nmore\n');
    const third = await ask();
    expect(third?.digest).not.toBe(first?.digest);
    expect(third?.shown.seen).not.toEqual(first?.shown.seen);
  });

  test.each([
    ['write_file', { path: 'a.txt', content: 'x' }, 'a.txt'],
    ['edit_file', EDIT, 'a.txt'],
    ['delete_file', { path: 'a.txt' }, 'a.txt'],
    ['delete_file', { path: 'd', recursive: true }, 'd/x'],
    ['delete_file', { path: 'd', recursive: true }, 'd/new'],
    ['move_file', { from: 'd/x', to: 'a.txt', overwrite: true }, 'a.txt'],
    ['move_file', { from: 'a.txt', to: 'd/x', overwrite: true }, 'a.txt'],
    ['apply_patch', { patch: '*** Begin Patch\n*** Update File: a.txt\n-one\n+1\n*** End Patch' }, 'a.txt'],
  ] as const)('of %s %o does not hold once %s has changed', async (tool, args, changed) => {
    const { ws, requests } = await answered((_request, { file }) => {
      writeFileSync(file(changed), 'one\nand more\n');
      return { approved: true };
    });
    await using _ = ws;
    const { error } = await ws.call(tool, args);
    expect(error).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('has changed since') });
    expect(readFileSync(ws.file(changed), 'utf8')).toBe('one\nand more\n');
    expect(requests.length).toBe(1);
  });

  test('does not hold for another file that a symlink leads to by then', async () => {
    await using ws = await tempWorkspace({ files: { 'x/f': 'one\n', 'y/f': 'one\n' } });
    symlinkSync('x', ws.file('l'));
    const { call } = createToolwright({
      tools: builtInTools,
      world: ws.workspace,
      async approver() {
        const { execFileSync } = await import('node:child_process');
        execFileSync('ln', ['-sfn', 'y', ws.file('l')]);
        return { approved: true };
      },
    });
    expect((await call('write_file', { path: 'l/f', content: 'x' })).error?.code).toBe('CONFLICT');
    expect([readFileSync(ws.file('x/f'), 'utf8'), readFileSync(ws.file('y/f'), 'utf8')]).toEqual(['one\n', 'one\n']);
  });

  test('with edited arguments is for a new plan', async () => {
    const { ws, requests } = await answered(() => ({
      approved: true,
      modifiedArgs: { path: 'new.txt', content: 'mine' },
    }));
    await using _ = ws;
    const written = await ws.call('write_file', { path: 'a.txt', content: 'x' });
    expect(written.value).toMatchObject({ path: 'new.txt', created: true });
    expect([readFileSync(ws.file('new.txt'), 'utf8'), readFileSync(ws.file('a.txt'), 'utf8')]).toEqual([
      'mine',
      'one\n',
    ]);
    expect(requests.length).toBe(1);
  });

  test('with edited arguments that cannot work ends the call with their failure', async () => {
    const { ws } = await answered(() => ({ approved: true, modifiedArgs: { path: '../x', content: 'mine' } }));
    await using _ = ws;
    expect((await ws.call('write_file', { path: 'a.txt', content: 'x' })).error?.code).toBe('INVALID_PATH');
  });
});

describe('from the changes of a plan', () => {
  const change = (changes: readonly { kind: 'write'; path: string; content: { text: string } }[]) =>
    defineTool({
      name: 'change',
      description: 'Changes files',
      input: z.object({}),
      plan: () => ok({ changes, withText: (text: string) => ({ text }) }),
      async run(plan, { files }) {
        const done = await files.apply(plan.changes);
        return done.ok ? ok(done.value.length) : done;
      },
    });
  const text = (path: string, content: string) => ({ kind: 'write', path, content: { text: content } }) as const;

  test('access, expected versions and the reason to ask are derived for any tool', async () => {
    await using ws = await tempWorkspace({ files: { 'a.txt': 'one\n' } });
    const subjects: Subject[] = [];
    const policy: Policy = {
      decide(subject) {
        subjects.push(subject);
        return verdict('allow');
      },
    };
    const tools = [change([text('new.txt', 'n'), text('a.txt', 'two\n')])];
    expect((await createToolwright({ tools, world: ws.workspace, policy }).call('change')).ok).toBe(true);
    expect(subjects[0]).toMatchObject({
      access: [
        { kind: 'fs.write', path: 'new.txt', expect: 'absent' },
        { kind: 'fs.write', path: 'a.txt', expect: { version: expect.any(String) } },
      ],
      ownReason: 'It changes a.txt, which exists.',
      asksAlways: false,
    });
  });

  test('a protected file behind a symlink is asked about whatever the rules say', async () => {
    await using ws = await tempWorkspace();
    mkdirSync(ws.file('.git/hooks'), { recursive: true });
    symlinkSync('.git/hooks', ws.file('scripts'));
    const subjects: Subject[] = [];
    const policy: Policy = {
      decide(subject) {
        subjects.push(subject);
        return verdict('deny');
      },
    };
    await createToolwright({ tools: [change([text('scripts/x', 'x')])], world: ws.workspace, policy }).call('change');
    expect(subjects[0]?.asksAlways).toBe(true);
  });

  test('a dry run shows the diff of every file, and a draft is the one text file', async () => {
    await using ws = await tempWorkspace({ files: { 'a.txt': 'one\n', 'b.txt': 'b\n' } });
    const both = { tools: [change([text('a.txt', 'two\n'), text('b.txt', 'B\n')])], world: ws.workspace };
    const dry = await createToolwright({ ...both, dryRun: true }).call('change');
    expect(dry.text).toMatch(/^\[Dry Run\] Would run: .*a\.txt.*\n@@ [\s\S]*-one\n\+two\n[^\n]*b\.txt[\s\S]*-b\n\+B/);
    expect(readFileSync(ws.file('a.txt'), 'utf8')).toBe('one\n');
    const two = createToolwright(both);
    expect(await two.executor.draft('change', two.context)).toBeUndefined();
    const one = createToolwright({ tools: [change([text('a.txt', 'two\n')])], world: ws.workspace });
    const draft = await one.executor.draft('change', one.context);
    expect(draft).toMatchObject({ path: 'a.txt', before: 'one\n', after: 'two\n' });
    expect(draft?.withText('mine')).toEqual({ text: 'mine' });
  });
});
