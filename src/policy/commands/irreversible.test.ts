import { expect, test } from 'vitest';
import { ExecutionContext } from '../../kernel/execution-context.ts';
import { createFilePolicy } from '../../kernel/file-policy.ts';
import { createPolicy } from '../create-policy.ts';
import type { Mode } from '../modes.ts';
import { parseRules } from '../rules.ts';

const context = new ExecutionContext({ workingDir: '/home/ana/project' });

function verdict(command: string, allow: string, mode: Mode = 'ask'): string {
  const rules = parseRules({ allow: [allow] });
  if (!rules.ok) throw new Error(rules.error.message);
  const policy = createPolicy({ mode, rules: rules.value, files: createFilePolicy(), home: '/home/ana' });
  const own = { tool: 'bash', args: {}, effect: 'once', ownReason: undefined, asksAlways: false, context } as const;
  return policy.decide({ ...own, access: [{ kind: 'process.run', command, writes: 'workspace' }] }).verdict;
}

test.each([
  ['git push *', 'git push --force'],
  ['git push *', 'git push origin +main'],
  ['git *', 'git reset --hard'],
  ['git * *', 'git reset --hard'],
  ['git reset *', 'git reset --har'],
  ['git clean *', 'git clean -xfd'],
  ['git switch *', 'git switch --discard-changes main'],
  ['git checkout *', 'git checkout -f'],
  ['rm *', 'rm -rf .git'],
])('bash(%s) does not answer for «%s», which nothing brings back', (rule, command) => {
  expect(verdict(command, `bash(${rule})`)).toBe('ask');
  expect(verdict(command, `bash(${rule})`, 'strict')).toBe('deny');
  expect(verdict(command, 'bash')).toBe('ask');
});

test.each([
  ['git push --force *', 'git push --force origin'],
  ['git push --force*', 'git push --force-with-lease'],
  ['git reset --hard', 'git reset --hard'],
  ['git clean -fd', 'git clean -fd'],
  ['git filter-branch *', 'git filter-branch --all'],
  ['rm -rf .git', 'rm -rf .git'],
])('bash(%s) names what «%s» does, and answers for it', (rule, command) => {
  expect(verdict(command, `bash(${rule})`)).toBe('allow');
  expect(verdict(command, `bash(${rule})`, 'strict')).toBe('allow');
});

test('what something brings back is left to the rule as it was', () => {
  for (const command of ['git push origin main', 'git reset HEAD~1', 'git checkout main'])
    expect([command, verdict(command, 'bash(git *)')]).toEqual([command, 'allow']);
});
