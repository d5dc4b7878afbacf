import type { RuleSet } from './rules.ts';

/** What mode `strict` allows for a tool that runs commands, unless the user says otherwise. Documented in docs/policy.md. */
export function strictCommands(tool: string): RuleSet {
  return { allow: COMMANDS.map((command) => `${tool}(${command})`) };
}

const COMMANDS = [
  'ls *',
  'pwd',
  'cat *',
  'head *',
  'tail *',
  'wc *',
  'grep *',
  'rg *',
  'find *',
  'sort *',
  'uniq *',
  'cut *',
  'diff *',
  'echo *',
  'cd *',
  'true',
  'git status *',
  'git diff *',
  'git log *',
  'git show *',
  'git branch *',
  'npm install *',
  'npm ci *',
  'npm test *',
  'npm run *',
  'npm ls *',
];
