import { expect, test } from 'vitest';
import { ExecutionContext } from '../../../kernel/call/execution-context.ts';
import { createFilePolicy } from '../../../kernel/world/file-policy.ts';
import type { Mode } from '../../create-policy.ts';
import { createPolicy } from '../../create-policy.ts';
import { parseRules } from '../../rules/parse-rules.ts';

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
])('bash(%s) does not answer for "%s", which nothing brings back', (rule, command) => {
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
])('bash(%s) names what "%s" does, and answers for it', (rule, command) => {
  expect(verdict(command, `bash(${rule})`)).toBe('allow');
  expect(verdict(command, `bash(${rule})`, 'strict')).toBe('allow');
});

test('what something brings back is left to the rule as it was', () => {
  for (const command of ['git push origin main', 'git reset HEAD~1', 'git checkout main'])
    expect([command, verdict(command, 'bash(git *)')]).toEqual([command, 'allow']);
});

test.each([
  'git push --follow-tags',
  'npm --prefix public run build',
  'npm --silent --prefix publish run build',
  'pnpm -C public build',
  'pnpm --filter pubsub build',
  'npm public',
  'kubectl --context delete get pods',
  'kubectl -v 3 -n delete get pods',
  'npm publish --dry-run',
  'npm --dry-run publish --tag next',
  'cargo publish --dry-run',
  'terraform plan -destroy',
  'terraform -chdir=a plan -destroy',
  `find . -path ./.git -prune -o -name '*.orig' -delete`,
  `find . -name '*.orig' -not -name .git -delete`,
  'find . -maxdepth 1 ! -name .git -exec rm -rf {} +',
])('"%s" needs no question for what nothing brings back', (command) => {
  expect(verdict(command, 'bash', 'auto')).toBe('allow');
});

test.each([
  'git push --fo',
  'git push --force-with-lease',
  'npm pub',
  'npm --access public publish',
  'npm -w a publish',
  'npm --silent --prefix a publish',
  'npm publish --dry-run --no-dry-run',
  'npm publish --dry-run=false',
  'npm publish --dry-run false',
  'npm publish -- --dry-run',
  'npm publish --dry-run $X',
  'kubectl --context x delete pod y',
  'kubectl --odd x delete pod y',
  'terraform apply -destroy',
  'terraform destroy plan',
  'find . -name .git -exec rm -rf {} +',
  'find . -not -not -name .git -delete',
  'find . -name .git -prune -exec rm -rf {} +',
  'find . -mindepth 1 -not -name .git -delete',
  'find . -name .git -prune -o -delete',
  'find . "-delete"',
  'X=-delete; find . "$X"',
  'X=--hard; git reset "$X"',
  'X=reset; git "$X" --hard',
])('"%s" does', (command) => {
  expect(verdict(command, 'bash', 'auto')).toBe('ask');
});
