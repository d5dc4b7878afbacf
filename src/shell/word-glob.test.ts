import { expect, test } from 'vitest';
import { wordGlobMatcher } from './word-glob.ts';

// Each of these expands to .env in bash or in dash.
test.each([
  '.en[v]',
  '.e[!x]v',
  '.en[!V]',
  '.e[^n]v',
  '.[e[:x:]n[v]',
  '.[e[.x.]n[v]',
  '.[e[=x=]n[v]',
  '.[[:alpha:]]nv',
  '.e[]n]v',
  '.?n*',
])('%s may be .env, however a shell reads its classes', (pattern) => {
  expect(wordGlobMatcher(pattern)('.env')).toBe(true);
});

test.each(['.en[x]', '.e[a-c]v', 'env', '.en'])('%s is not .env', (pattern) => {
  expect(wordGlobMatcher(pattern)('.env')).toBe(false);
});
