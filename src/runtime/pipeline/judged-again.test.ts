import { expect, test } from 'vitest';
import { z } from 'zod';
import type { ApprovalResponse, Verdict } from '../../kernel/ports.ts';
import { ok } from '../../kernel/result.ts';
import type { Access } from '../../kernel/tool/access.ts';
import { defineTool } from '../../kernel/tool/tool.ts';
import { createToolwright } from '../create-toolwright.ts';

/** `change` says what policy will think from then on of `run`, which is judged by what it finds. */
function subject(approve: () => ApprovalResponse | Promise<ApprovalResponse> = () => ({ approved: true })) {
  const log: string[] = [];
  let opinion: Verdict['verdict'] = 'allow';
  const input = z.object({ to: z.enum(['allow', 'ask', 'deny']).default('allow') });
  const change = defineTool({
    name: 'change',
    description: 'Change what there is',
    input,
    access: () => [{ kind: 'fs.write', path: 'a' }],
    async run({ to }) {
      await new Promise((done) => setTimeout(done, 5));
      opinion = to;
      log.push(`changed to ${to}`);
      return ok(to);
    },
  });
  const background: Access = { kind: 'process.run', command: 'x', writes: 'background' };
  const runs = (name: string, access: Access) =>
    defineTool({
      name,
      description: 'Run what there is',
      input,
      access: () => [access],
      run: () => {
        log.push('ran');
        return ok('ran');
      },
    });
  const decide = ({ tool }: { tool: string }): Verdict => {
    if (tool === 'change') return { verdict: 'allow', rule: 'test', reason: '' };
    log.push(`judged ${opinion}`);
    return { verdict: opinion, rule: 'test', reason: 'The file has changed.' };
  };
  const ask = () => {
    log.push('asked');
    return approve();
  };
  const toolwright = createToolwright({
    tools: [
      change,
      runs('run', { ...background, writes: 'workspace' }),
      runs('start', background),
      runs('write_new', { kind: 'fs.write', path: 'a', expect: 'absent' }),
    ],
    policy: { decide },
    approver: ask,
  });
  const both = (to: string, tool = 'run') =>
    toolwright.executor.executeMany([{ tool: 'change', args: { to } }, { tool }], toolwright.context);
  return { log, both, ...toolwright };
}

test('what an earlier call has changed is judged again before it runs, and nobody is asked where it is still allowed', async () => {
  const { log, both } = subject();
  expect((await both('allow'))[1]?.ok).toBe(true);
  expect(log).toEqual(['judged allow', 'changed to allow', 'judged allow', 'ran']);
});

test('a person is asked after all, once, and what they agree to runs', async () => {
  const { log, both } = subject();
  expect((await both('ask'))[1]?.ok).toBe(true);
  expect(log.filter((step) => !step.startsWith('judged'))).toEqual(['changed to ask', 'asked', 'ran']);
});

test.each(['run', 'start'])('a person who says no to "%s" after all is obeyed', async (tool) => {
  const { log, both } = subject(() => ({ approved: false }));
  expect((await both('ask', tool))[1]?.error).toMatchObject({ code: 'APPROVAL_DENIED' });
  expect(log).not.toContain('ran');
});

test('what is refused by then does not run, and nobody is asked', async () => {
  const { log, both } = subject();
  expect((await both('deny'))[1]?.error).toMatchObject({ code: 'PERMISSION_DENIED' });
  expect(log).toEqual(['judged allow', 'changed to deny', 'judged deny']);
});

test('while a person thinks about it after all, it holds up nobody else', async () => {
  let answer: (response: ApprovalResponse) => void = () => {};
  const { log, both, call } = subject(() => new Promise((resolve) => (answer = resolve)));
  const results = both('ask');
  while (!log.includes('asked')) await new Promise(setImmediate);
  expect((await call('change', { to: 'ask' })).ok).toBe(true);
  expect(log).not.toContain('ran');
  answer({ approved: true });
  expect((await results)[1]?.ok).toBe(true);
});

test('where nothing was changed meanwhile it is judged once', async () => {
  const { log, call } = subject();
  await call('run');
  await call('run');
  expect(log).toEqual(['judged allow', 'ran', 'judged allow', 'ran']);
});

test('a file that is still to be new is asked about when policy thinks otherwise by then', async () => {
  const { log, both } = subject(() => ({ approved: false }));
  expect((await both('ask', 'write_new'))[1]?.error).toMatchObject({ code: 'APPROVAL_DENIED' });
  expect(log).not.toContain('ran');
});
