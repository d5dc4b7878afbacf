import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { ApprovalRequest, ApprovalResponse, Policy } from '../../kernel/ports.ts';
import { ok } from '../../kernel/result.ts';
import { defineTool } from '../../kernel/tool/tool.ts';
import { createToolwright, type ToolwrightOptions } from '../create-toolwright.ts';

/** Writes into `written`, and asks a person when it would overwrite. */
function subject(options: ToolwrightOptions = {}) {
  const written = new Map<string, string>([['old.txt', 'old']]);
  const write = defineTool({
    name: 'write',
    description: 'Write a text',
    input: z.object({ path: z.string(), text: z.string().default('') }),
    summary: ({ path }) => `Write ${path}`,
    access: ({ path }) => [{ kind: 'fs.write', path }],
    approval: async ({ path }) => (written.has(path) ? `${path} exists and would be overwritten.` : undefined),
    run({ path, text }) {
      written.set(path, text);
      return ok(`wrote ${path}`);
    },
  });
  return { written, ...createToolwright({ tools: [write], sessionId: 's1', ...options }) };
}

/** An approver that gives this answer and keeps what it was asked. */
function answering(answer: ApprovalResponse | (() => Promise<ApprovalResponse>)) {
  const asked: ApprovalRequest[] = [];
  const ask = async (request: ApprovalRequest) => {
    asked.push(request);
    return typeof answer === 'function' ? answer() : answer;
  };
  return { asked, ask };
}

describe('approval', () => {
  test('[E15] the request has the step, the tool, the arguments and the reason', async () => {
    const { asked, ask } = answering({ approved: true });
    const { call } = subject({ approver: ask });
    const result = await call('write', { path: 'old.txt', text: 'new' });
    expect(asked).toEqual([
      {
        id: expect.any(String),
        stepId: result.callId,
        session: 's1',
        tool: 'write',
        args: { path: 'old.txt', text: 'new' },
        reason: 'old.txt exists and would be overwritten.',
        summary: 'Write old.txt',
        access: [{ kind: 'fs.write', path: 'old.txt' }],
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
        shown: {
          summary: 'Write old.txt',
          access: [{ kind: 'fs.write', path: 'old.txt' }],
          verdicts: [expect.objectContaining({ verdict: 'ask' })],
          preview: [],
          seen: {},
        },
      },
    ]);
  });

  test('[E16] a yes runs it, a no does not and tells the model why', async () => {
    const yes = subject({ approver: answering({ approved: true }).ask });
    expect((await yes.call('write', { path: 'old.txt', text: 'new' })).ok).toBe(true);
    expect(yes.written.get('old.txt')).toBe('new');

    const no = subject({ approver: answering({ approved: false, message: 'keep the old one', by: 'ana' }).ask });
    const refused = await no.call('write', { path: 'old.txt', text: 'new' });
    expect(refused.error?.code).toBe('APPROVAL_DENIED');
    expect(refused.text).toBe('Error: A person refused to run write: keep the old one');
    expect(no.written.get('old.txt')).toBe('old');
    expect(no.executor.getExecutions()[0]?.state).toBe('denied');
  });

  test('[E16] modified arguments run instead, and the model is told what was changed', async () => {
    const { written, call, executor } = subject({
      approver: answering({ approved: true, modifiedArgs: { path: 'other.txt', text: 'new' } }).ask,
    });
    const result = await call('write', { path: 'old.txt', text: 'new' });
    expect(result.output).toBe('wrote other.txt');
    expect(result.warnings).toEqual(['The person who approved this changed path before it ran.']);
    expect(result.text).toContain('changed path before it ran');
    expect(written).toEqual(
      new Map([
        ['old.txt', 'old'],
        ['other.txt', 'new'],
      ]),
    );
    expect(executor.getExecutions()[0]?.params).toEqual({ path: 'other.txt', text: 'new' });
  });

  test('[E16] modified arguments are validated again', async () => {
    const { written, call } = subject({ approver: answering({ approved: true, modifiedArgs: { path: 7 } }).ask });
    const result = await call('write', { path: 'old.txt' });
    expect(result.error).toMatchObject({
      code: 'INVALID_INPUT',
      message: 'The edited arguments are invalid: Invalid type for path: expected string',
    });
    expect(written.size).toBe(1);
  });

  test('[E16] modified arguments are judged again: a person cannot edit past a deny', async () => {
    const policy: Policy = {
      decide: ({ args, ownReason }) => {
        if ((args as { path: string }).path === '/etc/passwd')
          return { verdict: 'deny', rule: 'r1', reason: 'Outside.' };
        return { verdict: ownReason ? 'ask' : 'allow', rule: 'r2', reason: ownReason ?? '' };
      },
    };
    const { ask } = answering({ approved: true, modifiedArgs: { path: '/etc/passwd' } });
    const { written, call } = subject({ approver: ask, policy });
    const result = await call('write', { path: 'old.txt' });
    expect(result.error).toMatchObject({ code: 'PERMISSION_DENIED', message: 'Outside.', details: { rule: 'r1' } });
    expect(written.size).toBe(1);
  });

  test('[E18] whether it asks depends on the arguments', async () => {
    const { asked, ask } = answering({ approved: true });
    const { call } = subject({ approver: ask });
    await call('write', { path: 'new.txt' });
    expect(asked).toHaveLength(0);
    await call('write', { path: 'new.txt' });
    expect(asked).toHaveLength(1);
  });

  test('a default left out by the editor is no change', async () => {
    const { call } = subject({ approver: answering({ approved: true, modifiedArgs: { path: 'old.txt' } }).ask });
    expect((await call('write', { path: 'old.txt', text: '' })).warnings).toEqual([]);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['a throw', () => Promise.reject(new Error('the screen is off'))],
    ['nothing', () => Promise.resolve(undefined)],
    ['a word', () => Promise.resolve({ approved: 'yes' })],
  ])('%s from the approver is a no', async (_, answer) => {
    const { written, call } = subject({ approver: answering(answer as never).ask });
    const result = await call('write', { path: 'old.txt', text: 'new' });
    expect(result.error?.code).toBe('APPROVAL_DENIED');
    expect(written.get('old.txt')).toBe('old');
    expect((await call('write', { path: 'fresh.txt' })).ok).toBe(true);
  });

  test('without an approver, it is refused and says what to configure', async () => {
    const { written, call } = subject();
    const result = await call('write', { path: 'old.txt' });
    expect(result.error).toMatchObject({
      code: 'APPROVAL_DENIED',
      message: expect.stringContaining('give the executor'),
    });
    expect(written.get('old.txt')).toBe('old');
  });

  test('nobody answering in time is an expiry, and a late yes runs nothing', async () => {
    let answerLate: (answer: ApprovalResponse) => void = () => {};
    const late = () => new Promise<ApprovalResponse>((resolve) => (answerLate = resolve));
    const { written, call, executor } = subject({ approver: answering(late).ask, approvalTimeout: 0.05 });
    const result = await call('write', { path: 'old.txt', text: 'new' });
    expect(result.error?.code).toBe('APPROVAL_EXPIRED');
    answerLate({ approved: true });
    await new Promise(setImmediate);
    expect(written.get('old.txt')).toBe('old');
    expect(executor.getExecutions()).toMatchObject([{ state: 'expired' }]);
  });

  test('a cancel while a person thinks ends it before it started', async () => {
    const { asked, ask } = answering(() => new Promise(() => {}));
    const { written, call } = subject({ approver: ask });
    const cancel = new AbortController();
    const pending = call('write', { path: 'old.txt', text: 'new' }, { signal: cancel.signal });
    while (asked.length === 0) await new Promise(setImmediate);
    cancel.abort();
    expect((await pending).error).toMatchObject({ code: 'CANCELLED', details: { phase: 'not_started' } });
    expect(written.get('old.txt')).toBe('old');
  });

  test('question and decision are events, recorded before the call starts', async () => {
    const { call, executor } = subject({ approver: answering({ approved: true, by: 'ana' }).ask });
    const events: { type: string; data: object }[] = [];
    executor.on((event) => events.push(event));
    await call('write', { path: 'old.txt' });
    expect(events.map(({ type }) => type)).toEqual([
      'call.requested',
      'approval.requested',
      'approval.decided',
      'call.started',
      'call.finished',
    ]);
    expect(events[2]?.data).toMatchObject({ approved: true, by: 'ana' });
  });

  test('a yes holds for the plan that was shown; the call is planned once more, before it runs', async () => {
    let content = 'as shown';
    let plans = 0;
    const runs: unknown[] = [];
    const tool = defineTool({
      name: 'publish',
      description: 'Publish a text',
      input: z.object({}),
      plan: () => ok({ access: [], approval: 'It is public.', bound: { content }, number: ++plans }),
      run: ({ number }) => ok(runs.push(number)),
    });
    const { call } = createToolwright({
      tools: [tool],
      approver: () => {
        if (plans > 2) content = 'changed meanwhile';
        return { approved: true };
      },
    });
    expect((await call('publish')).ok).toBe(true);
    expect((await call('publish')).error).toMatchObject({
      code: 'APPROVAL_DENIED',
      message: expect.stringContaining('has changed since'),
    });
    expect([plans, runs]).toEqual([4, [2]]);
  });

  test('the same arguments in another order have the same digest, others another', async () => {
    const { asked, ask } = answering({ approved: false });
    const { call } = subject({ approver: ask });
    await call('write', { path: 'old.txt', text: 'a' });
    await call('write', { text: 'a', path: 'old.txt' });
    await call('write', { path: 'old.txt', text: 'b' });
    expect(asked[0]?.digest).toBe(asked[1]?.digest);
    expect(asked[2]?.digest).not.toBe(asked[0]?.digest);
  });

  test('the version of a tool is part of the digest; without one it is what it always was', async () => {
    const { asked, ask } = answering({ approved: false });
    const tool = (version?: string) =>
      defineTool({
        name: 'do',
        description: 'Does it',
        ...(version !== undefined && { version }),
        input: z.object({ x: z.number() }),
        approval: () => 'It matters.',
        run: () => ok('done'),
      });
    for (const version of [undefined, '1', '2', '1']) {
      const options = { tools: [tool(version)], approver: ask, sessionId: 's1', workingDir: '/w' };
      await createToolwright(options).call('do', { x: 1 });
    }
    const [none, one, two, again] = asked.map(({ digest }) => digest);
    expect(none).toBe('32fa71a60337547baa9eb920a35ed61e538113d8336b251a3c6a121cf92ad25d');
    expect(again).toBe(one);
    expect(new Set([none, one, two]).size).toBe(3);
  });
});

describe('policy', () => {
  const deciding = (verdict: 'allow' | 'ask' | 'deny'): Policy => ({
    decide: () => ({ verdict, rule: `always-${verdict}`, reason: `The rule says ${verdict}.` }),
  });

  test('deny refuses before anything runs', async () => {
    const { written, call } = subject({ policy: deciding('deny') });
    const result = await call('write', { path: 'new.txt' });
    expect(result.error).toMatchObject({
      code: 'PERMISSION_DENIED',
      message: 'The rule says deny.',
      details: { rule: 'always-deny' },
    });
    expect(written.size).toBe(1);
  });

  test('allow lifts what the tool itself would ask', async () => {
    const { written, call } = subject({ policy: deciding('allow') });
    expect((await call('write', { path: 'old.txt', text: 'new' })).ok).toBe(true);
    expect(written.get('old.txt')).toBe('new');
  });

  test('ask goes to the person with its own reason', async () => {
    const { asked, ask } = answering({ approved: true });
    await subject({ policy: deciding('ask'), approver: ask }).call('write', { path: 'new.txt' });
    expect(asked[0]?.reason).toBe('The rule says ask.');
  });

  test('a policy that throws refuses the call', async () => {
    const policy: Policy = {
      decide() {
        throw new Error('rules file is broken');
      },
    };
    const { written, call } = subject({ policy });
    const result = await call('write', { path: 'new.txt' });
    expect(result.error).toMatchObject({ code: 'INTERNAL', message: expect.stringContaining('rules file is broken') });
    expect(written.size).toBe(1);
  });

  test('a dry run asks nobody, and says that somebody would be asked', async () => {
    const { asked, ask } = answering({ approved: true });
    const { written, call } = subject({ approver: ask, dryRun: true });
    const result = await call('write', { path: 'old.txt', text: 'new' });
    expect(result.output).toBe(
      '[Dry Run] Would run: Write old.txt\nIt would need approval first: old.txt exists and would be overwritten.',
    );
    expect(asked).toEqual([]);
    expect(written.get('old.txt')).toBe('old');
  });
});
