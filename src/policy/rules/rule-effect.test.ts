import { describe, expect, test } from 'vitest';
import type { RulePatterns } from '../../kernel/tool/tool.ts';
import { type KnownTools, parseRule } from './parse-rules.ts';

const PATTERNS: Readonly<Record<string, RulePatterns>> = {
  bash: 'commands',
  run_code: 'code',
  read_file: 'paths',
  web_fetch: 'hosts',
  web_search: 'none',
};

const known: KnownTools = {
  has: (name) => name === 'shell' || name === 'remote__tool' || name in PATTERNS,
  tool(name) {
    if (name === 'remote__tool') return { name };
    const own = name === 'shell' ? 'bash' : name;
    return PATTERNS[own] && { name: own, patterns: PATTERNS[own], access: () => [] };
  },
};

const message = (text: string, verdict: 'allow' | 'deny' = 'allow') => {
  const parsed = parseRule(text, verdict, known);
  return parsed.ok ? 'used' : parsed.error.message;
};

describe('a rule that could never match is refused with what to write instead', () => {
  test.each([
    ['web_fetch(example.org)', 'write web_fetch(domain:example.org)'],
    ['web_fetch(https://Example.org/a)', 'write web_fetch(domain:example.org)'],
    ['web_fetch(PUT domain:x.test)', 'one of GET, POST'],
    ['web_fetch(post domain:x.test)', 'in capital letters'],
    ['bash(domain:x.test)', 'hosts that commands may reach belong in allowedHosts'],
    ['bash(ls && rm *)', 'write bash(ls) and bash(rm *)'],
    ['bash(cat a | sh)', 'write bash(cat a) and bash(sh)'],
    ['bash(ls;)', 'it is not a single command'],
    ['bash(ls > out)', 'write bash(ls)'],
    ['bash(A=1 make)', 'write bash(make)'],
    ['bash(git $X)', 'not known when a rule is checked'],
    ["bash(echo 'open)", 'it is not a single command'],
    ['bash(timeout 5 make)', 'timeout only starts another command'],
    ['run_code(ls)', 'write run_code'],
    ['read_file(/etc/passwd)', 'nothing outside it can be reached'],
    ['read_file(~/.ssh/*)', 'nothing outside it can be reached'],
    ['read_file(docs/../../x)', 'nothing outside it can be reached'],
    ['read_file(docs/)', 'write read_file(docs/**)'],
    ['read_file(domain:x.test)', 'ruled by path'],
    ['web_search(cats)', 'write web_search'],
    ['remote__tool(x)', 'write remote__tool'],
  ])('%s', (text, expected) => {
    expect(message(text)).toContain(expected);
  });

  test.each([
    'bash(npm run test:*)',
    "bash(git commit -m 'a && b')",
    'bash(*)',
    'bash(make -j*)',
    'read_file(.env*)',
    'web_fetch(POST domain:x.test)',
    'bash(echo domain:x)',
  ])('%s is used', (text) => {
    expect(message(text)).toBe('used');
  });

  test('what holds something back may name a wrapper, and commands inside of code', () => {
    expect(message('bash(timeout *)', 'deny')).toBe('used');
    expect(message('run_code(git push *)', 'deny')).toBe('used');
  });

  test('an alias names the tool behind it', () => {
    expect(parseRule('shell(ls)', 'allow', known)).toMatchObject({ value: { tool: 'bash', text: 'shell(ls)' } });
  });
});
