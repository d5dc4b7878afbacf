import { describe, expect, test } from 'vitest';
import { ExecutionContext } from '../kernel/call/execution-context.ts';
import type { Subject } from '../kernel/ports.ts';
import type { Access } from '../kernel/tool/access.ts';
import { createFilePolicy } from '../kernel/world/file-policy.ts';
import type { Mode } from './create-policy.ts';
import { createPolicy } from './create-policy.ts';
import { parseRule, parseRules, type RuleSet } from './rules/parse-rules.ts';
import { strictCommands } from './rules/strict-list.ts';

const context = new ExecutionContext({ workingDir: '/home/ana/project' });

function decide(mode: Mode, rules: RuleSet, tool: string, access: Access[], more: Partial<Subject> = {}) {
  const parsed = parseRules(rules);
  if (!parsed.ok) throw new Error(parsed.error.message);
  const policy = createPolicy({ mode, rules: parsed.value, files: createFilePolicy(), home: '/home/ana' });
  const subject: Subject = {
    tool,
    args: {},
    access,
    effect: 'once',
    ownReason: undefined,
    asksAlways: false,
    context,
    ...more,
  };
  return policy.explain(subject);
}

const run = (command: string): Access[] => [{ kind: 'process.run', command, writes: 'workspace' }];
const write = (path: string, expect?: 'absent'): Access[] => [{ kind: 'fs.write', path, ...(expect && { expect }) }];

describe('rules about paths', () => {
  const at = (access: Access, path: string, folder = false) => ({ places: new Map([[access, { path, folder }]]) });
  const read = (path: string): Access => ({ kind: 'fs.read', path });
  const take = (path: string): Access => ({ kind: 'fs.delete', path, recursive: true });

  test.each<[string, RuleSet, Access, [string, boolean], string]>([
    ['a link to what is refused', { deny: ['t(private/**)'] }, read('p/a'), ['private/a', false], 'deny'],
    ['a link to what is asked about', { ask: ['t(private/**)'] }, read('p/a'), ['private/a', false], 'ask'],
    ['a refused name that leads elsewhere', { deny: ['t(private/**)'] }, read('private/a'), ['b', false], 'deny'],
    ['an allowed name that leads elsewhere', { allow: ['t(docs/**)'] }, take('docs/a'), ['src/a', false], 'ask'],
    ['an allowed name of an allowed place', { allow: ['t(docs/**)'] }, take('docs/a'), ['docs/b', false], 'allow'],
    ['the tool as a whole', { allow: ['t'] }, take('docs/a'), ['src/a', false], 'allow'],
    ['the folder itself', { deny: ['t(private/**)'] }, read('private'), ['private', true], 'deny'],
    ['a link to the folder', { deny: ['t(private/**)'] }, read('p'), ['private', true], 'deny'],
    ['a file named like folders', { deny: ['t(*/**)'] }, read('README.md'), ['README.md', false], 'allow'],
    ['reading a folder above', { deny: ['t(a/private/**)'] }, read('a'), ['a', true], 'allow'],
    ['taking a folder above', { deny: ['t(a/private/**)'] }, take('a'), ['a', true], 'deny'],
    ['taking a folder beside', { deny: ['t(a/private/**)'] }, take('b'), ['b', true], 'ask'],
    ['what may be in any folder', { deny: ['t(**/*.pem)'], allow: ['t(b)'] }, take('b'), ['b', true], 'ask'],
    ['what not every folder has', { deny: ['t(a/*/c/**)'], allow: ['t'] }, take('a/b'), ['a/b', true], 'ask'],
    ['what some folder in it may have', { deny: ['t(a/*/c/**)'], allow: ['t'] }, take('a'), ['a', true], 'ask'],
    ['files that it may have', { deny: ['t(a/*.pem)'], allow: ['t'] }, take('a'), ['a', true], 'ask'],
    ['whatever a folder has', { deny: ['t(a/*/*/**)'], allow: ['t'] }, take('a/b'), ['a/b', true], 'deny'],
    ['whatever is in any folder of it', { deny: ['t(a/*/**)'], allow: ['t'] }, take('a'), ['a', true], 'deny'],
    ['a refusal beside one that may be', { deny: ['t(**/*.pem)', 't(b/c)'] }, take('b'), ['b', true], 'deny'],
    [
      'a file, whatever may be in folders',
      { deny: ['t(**/*.pem)'], allow: ['t(b)'] },
      take('b'),
      ['b', false],
      'allow',
    ],
  ])('%s', (_what, rules, access, [path, folder], verdict) => {
    expect(decide('ask', rules, 't', [access], at(access, path, folder)).verdict).toBe(verdict);
  });

  test('where it leads is said', () => {
    const access = read('p/a');
    const { reason } = decide('ask', { deny: ['t(private/**)'] }, 't', [access], at(access, 'private/a'));
    expect(reason).toBe('The rule t(private/**) refuses it: p/a leads to private/a.');
  });
});

describe('modes', () => {
  test.each<[string, Access[], Record<Mode, string>]>([
    [
      'reading a file',
      [{ kind: 'fs.read', path: 'a.ts' }],
      { plan: 'allow', ask: 'allow', auto: 'allow', strict: 'allow' },
    ],
    ['a new file', write('a.ts', 'absent'), { plan: 'deny', ask: 'allow', auto: 'allow', strict: 'allow' }],
    ['changing a file', write('a.ts'), { plan: 'deny', ask: 'ask', auto: 'allow', strict: 'deny' }],
    ['deleting', [{ kind: 'fs.delete', path: 'a.ts' }], { plan: 'deny', ask: 'ask', auto: 'allow', strict: 'deny' }],
    ['a command that reads', run('ls'), { plan: 'allow', ask: 'allow', auto: 'allow', strict: 'deny' }],
    ['a command that changes', run('npm test'), { plan: 'deny', ask: 'ask', auto: 'allow', strict: 'deny' }],
    ['a computed command', run('$x'), { plan: 'deny', ask: 'ask', auto: 'ask', strict: 'deny' }],
    ['a catastrophe', run('rm -rf /'), { plan: 'deny', ask: 'deny', auto: 'deny', strict: 'deny' }],
    [
      'a sensitive file',
      [{ kind: 'fs.read', path: '.env' }],
      { plan: 'deny', ask: 'deny', auto: 'deny', strict: 'deny' },
    ],
    [
      'a protected file',
      write('.git/hooks/pre-commit', 'absent'),
      { plan: 'deny', ask: 'ask', auto: 'ask', strict: 'deny' },
    ],
    [
      'a page',
      [{ kind: 'net.fetch', url: 'https://x.test/', method: 'GET' }],
      { plan: 'ask', ask: 'ask', auto: 'ask', strict: 'deny' },
    ],
    ['the unknown', [{ kind: 'unknown' }], { plan: 'deny', ask: 'ask', auto: 'ask', strict: 'deny' }],
    ['nothing', [], { plan: 'allow', ask: 'allow', auto: 'allow', strict: 'allow' }],
  ])('%s', (_, access, expected) => {
    for (const mode of ['plan', 'ask', 'auto', 'strict'] as const) {
      expect([mode, decide(mode, {}, 'tool', access).verdict]).toEqual([mode, expected[mode]]);
    }
  });

  test('what only reads with its options, as far as they are known, is asked about beside what may write', () => {
    const rules = { allow: ['bash(mkdir out)'] };
    const beside = (command: string) => decide('ask', rules, 'bash', run(`mkdir out; ${command}`)).verdict;
    expect(beside('find . -name "$X"')).toBe('ask');
    expect(beside('sort "a$X"')).toBe('ask');
    expect(beside('X=1; echo "$X"')).toBe('allow');
  });

  test('strict knows a program by its name, also where its arguments are computed', () => {
    const list = strictCommands('bash');
    expect(decide('strict', list, 'bash', run('npm test; find . -name "$X"')).verdict).toBe('deny');
    expect(decide('strict', list, 'bash', run('file -F "$X" f')).verdict).toBe('deny');
  });

  test('strict refuses what is not on its list and names the list; ask asks', () => {
    const list = strictCommands('bash');
    expect(decide('strict', list, 'bash', run('ls -la')).verdict).toBe('allow');
    expect(decide('strict', list, 'bash', run('npm install')).verdict).toBe('allow');
    expect(decide('strict', list, 'bash', run('npm install && ls')).verdict).toBe('allow');
    expect(decide('strict', list, 'bash', run('npm install -D vitest@4 && npm test -- --run')).verdict).toBe('allow');
    for (const unusual of [
      ...['rg --pre ./x y', 'sort -o out a', 'find . -delete', 'git branch -D main', 'git diff --output=x', 'cat "$X"'],
      ...['npm install --script-shell x', 'npm install ./evil', 'npm run --script-shell=x a', 'cat /etc/shadow'],
    ]) {
      expect([unusual, decide('strict', list, 'bash', run(unusual)).verdict]).toEqual([unusual, 'deny']);
    }
    const refused = decide('strict', list, 'bash', run('make all'));
    expect(refused).toMatchObject({ verdict: 'deny', reason: expect.stringContaining('only listed calls') });
    expect(decide('strict', list, 'bash', run('cat .env')).verdict).toBe('deny');
    expect(decide('strict', list, 'bash', run('npm install; curl x | sh')).verdict).toBe('deny');
    expect(decide('ask', {}, 'bash', run('make all')).verdict).toBe('ask');
  });

  test('without a sandbox only what is known to read runs unasked, and not what comes across sensitive files', () => {
    const bare = createPolicy({
      mode: 'auto',
      rules: [],
      files: createFilePolicy(),
      home: '/home/ana',
      contained: false,
    });
    const verdict = (command: string) => {
      const own = { tool: 'bash', args: {}, effect: 'once', ownReason: undefined, asksAlways: false, context } as const;
      return bare.decide({ ...own, access: run(command) }).verdict;
    };
    for (const command of ['ls -la', 'cat package.json', 'git status', 'grep x a.ts'])
      expect([command, verdict(command)]).toEqual([command, 'allow']);
    for (const command of ['npm test', 'mkdir a', 'A=1 make', 'ls > x', 'grep -r x .', 'rg x', 'cat *', 'diff -r a b'])
      expect([command, verdict(command)]).toEqual([command, 'ask']);
  });

  test('a command that only reads is granted nothing to write, also by a rule', () => {
    expect(decide('ask', {}, 'bash', run('ls')).access).toEqual([
      { kind: 'process.run', command: 'ls', writes: 'nothing' },
    ]);
    expect(decide('strict', strictCommands('bash'), 'bash', run('ls')).access?.[0]).toMatchObject({
      writes: 'nothing',
    });
    expect(decide('auto', {}, 'bash', run('make')).access?.[0]).toMatchObject({ writes: 'workspace' });
  });
});

describe('rules', () => {
  test('deny beats ask beats allow, whatever the order', () => {
    const rules = { allow: ['bash(npm *)'], ask: ['bash(npm publish *)'], deny: ['bash(npm run evil)'] };
    expect(decide('ask', rules, 'bash', run('npm test')).verdict).toBe('allow');
    expect(decide('auto', rules, 'bash', run('npm publish')).verdict).toBe('ask');
    expect(decide('auto', rules, 'bash', run('npm run evil')).verdict).toBe('deny');
    expect(decide('ask', rules, 'bash', run('npm test && touch x')).verdict).toBe('ask');
    expect(decide('ask', rules, 'bash', run('npm test $X')).verdict).toBe('ask');
    expect(decide('ask', rules, 'other', run('npm test')).verdict).toBe('ask');
  });

  test('a rule that holds something back is met by whatever may be it', () => {
    const verdict = (command: string) => decide('auto', { deny: ['bash(git push *)'] }, 'bash', run(command)).verdict;
    const refused = [
      'git push',
      'g"i"t push',
      '/usr/bin/git push',
      './git push',
      'sudo git push origin',
      'ls; git push',
    ];
    const behindOptions = ['git -C . push', 'git --no-pager push', 'git -c a.b=c -P push -f', 'git --git-dir=x push'];
    for (const command of [...refused, ...behindOptions])
      expect([command, verdict(command)]).toEqual([command, 'deny']);
    const computed = ['git $X', '$(echo git) push', 'git "$X" origin', 'git pu*', 'g?t push', 'git {push,x}'];
    const mayBe = [...computed, 'git -c alias.p=push p', 'git -C "$X" status', 'echo push | xargs git', '$X'];
    for (const command of mayBe) expect([command, verdict(command)]).toEqual([command, 'ask']);
    for (const command of ['git commit -m "$X"', 'git -C push status', 'npm test $X', 'echo git push'])
      expect([command, verdict(command)]).toEqual([command, 'allow']);
    const options = (command: string) => decide('auto', { deny: ['bash(tool push)'] }, 'bash', run(command)).verdict;
    expect(['tool -x push', 'tool -x y push', 'tool --x=y push', 'tool push $X', 'tool push x'].map(options)).toEqual([
      ...['deny', 'ask', 'deny', 'ask', 'allow'],
    ]);
    const held = { allow: ['npm', 'kubectl', 'docker', 'cargo'].map((name) => `bash(${name} *)`) };
    const deny = ['bash(npm publish *)', 'bash(kubectl delete *)', 'bash(docker run *)', 'bash(cargo publish *)'];
    for (const command of ['npm --otp 1 publish', 'kubectl -v 5 delete x', 'docker -D run x', 'cargo +nightly publish'])
      expect([command, decide('auto', { ...held, deny }, 'bash', run(command)).verdict]).not.toContain('allow');
    expect(decide('ask', { deny: ['bash'] }, 'bash', run('$(x)')).verdict).toBe('deny');
    expect(decide('auto', { ask: ['bash(timeout *)'] }, 'bash', run('timeout 5 ls')).verdict).toBe('ask');
  });

  test('it meets shell code too, whichever tool runs it', () => {
    const code = (command: string, language: 'bash' | 'python'): Access[] => [
      { kind: 'process.run', command, writes: 'workspace', code: language },
    ];
    const rules = { deny: ['bash(git push *)'], ask: ['bash(make deploy)'], allow: ['bash(cat *)'] };
    const verdict = (access: Access[]) => decide('auto', rules, 'run_code', access).verdict;
    expect(verdict(code('ls\ngit push', 'bash'))).toBe('deny');
    expect(verdict(code('make deploy', 'bash'))).toBe('ask');
    expect(verdict(code('$X push', 'bash'))).toBe('ask');
    expect(verdict(code('make all', 'bash'))).toBe('allow');
    expect(verdict(code('git push', 'python'))).toBe('allow');
    const files = { deny: ['write_file(**)', 'write_file(*.md)', 'web_fetch(domain:a.test)'] };
    expect(decide('auto', files, 'bash', run('make')).verdict).toBe('allow');
  });

  test('a rule of words matches words, not text', () => {
    const allowed = (rule: string, command: string) =>
      decide('ask', { allow: [rule] }, 'bash', run(command)).verdict === 'allow';
    expect(allowed('bash(npm test *)', 'npm test')).toBe(true);
    expect(allowed('bash(npm test *)', 'npm test -- --watch')).toBe(true);
    expect(allowed('bash(npm test *)', 'npm testing')).toBe(false);
    expect(allowed('bash(npm run test:*)', 'npm run test')).toBe(true);
    expect(allowed('bash(git commit -m *)', "git commit -m 'a; b'")).toBe(true);
    expect(allowed('bash(make)', 'make')).toBe(true);
    expect(allowed('bash(make)', 'make install')).toBe(false);
    expect(allowed('bash(make)', './make')).toBe(false);
    expect(allowed('bash(*)', 'make install')).toBe(true);
  });

  test('paths and hosts', () => {
    const file = (rule: string, path: string) => decide('ask', { allow: [rule] }, 'write_file', write(path)).verdict;
    expect(file('write_file(docs/**)', 'docs/a/b.md')).toBe('allow');
    expect(file('write_file(docs/**)', './docs/x.md')).toBe('allow');
    expect(file('write_file(docs/**)', 'docs/../src/a')).toBe('ask');
    expect(file('write_file(docs/*.md)', 'docs/a/b.md')).toBe('ask');
    expect(file('write_file(**)', '.env')).toBe('deny');
    expect(file('write_file(**)', '.git/hooks/x')).toBe('ask');
    const page = (rule: string, url: string) =>
      decide('ask', { allow: [rule] }, 'web_fetch', [{ kind: 'net.fetch', url, method: 'GET' }]).verdict;
    expect(page('web_fetch(domain:example.org)', 'https://example.org/a')).toBe('allow');
    expect(page('web_fetch(domain:example.org)', 'https://EXAMPLE.org./a')).toBe('allow');
    for (const url of [
      'https://a.example.org',
      'https://evilexample.org',
      'https://example.org.evil.test',
      'https://evil.test/example.org',
    ]) {
      expect(page('web_fetch(domain:example.org)', url)).toBe('ask');
    }
    for (const url of ['https://x@evil.test/', 'https://x:y@example.org/', 'ftp://example.org/', 'example.org']) {
      expect(page('web_fetch(domain:example.org)', url)).toBe('deny');
    }
    expect(page('web_fetch(domain:*.example.org)', 'https://a.b.example.org')).toBe('allow');
    expect(page('web_fetch(domain:*.example.org)', 'https://example.org')).toBe('ask');
    expect(page('web_fetch(domain:example.org:8443)', 'https://example.org:8443/a')).toBe('allow');
    expect(page('web_fetch(domain:example.org:8443)', 'https://example.org/a')).toBe('ask');
    expect(page('web_fetch(domain:example.org:443)', 'https://example.org/a')).toBe('allow');
  });

  test.each<[string, RegExp]>([
    ['', /a rule is a tool/],
    ['bash(', /a rule is a tool/],
    ['bash()', /match nothing/],
    ['bash( )', /match nothing/],
    ['nope(x)', /there is no tool nope/],
    ['web_fetch(domain:https://x)', /a domain is a host name/],
    ['web_fetch(domain:)', /a domain is a host name/],
    ['web_fetch(domain:example.org:70000)', /a domain is a host name/],
  ])('"%s" is refused loudly', (text, message) => {
    const parsed = parseRule(text, 'allow', new Set(['bash', 'web_fetch']));
    expect(parsed.ok ? '' : parsed.error.message).toMatch(message);
  });

  test('a rule with examples must do what they say', () => {
    const rule = 'bash(npm test *)';
    expect(
      parseRule({ rule, matches: ['npm test', 'npm test -- a'], not: ['npm testing', 'npm test; rm x'] }, 'allow').ok,
    ).toBe(true);
    expect(parseRule({ rule, matches: ['npm run test'] }, 'allow')).toMatchObject({ ok: false });
    expect(parseRule({ rule: 'bash(npm *)', not: ['npm publish'] }, 'allow')).toMatchObject({
      error: { message: expect.stringContaining('should not match "npm publish"') },
    });
  });
});

describe('a tool’s own wish to ask', () => {
  const own = { ownReason: 'It overwrites.' };

  test('is lifted by an allow rule for the tool, or by mode auto', () => {
    expect(decide('ask', {}, 't', [], own)).toMatchObject({ verdict: 'ask', reason: 'It overwrites.' });
    expect(decide('ask', { allow: ['t'] }, 't', [], own).verdict).toBe('allow');
    expect(decide('auto', {}, 't', [], own).verdict).toBe('allow');
    expect(decide('plan', {}, 't', [], own).verdict).toBe('deny');
  });

  test('is never lifted when it says always', () => {
    const always = { ...own, asksAlways: true };
    for (const mode of ['ask', 'auto', 'strict'] as const) {
      expect(decide(mode, { allow: ['t'] }, 't', [], always).verdict).toBe('ask');
    }
  });
});

test('explain names every part, its verdict and its rule', () => {
  const { parts, verdict, mode } = decide(
    'ask',
    { allow: ['bash(npm test)'] },
    'bash',
    run('ls && npm test && touch x'),
  );
  expect(mode).toBe('ask');
  expect(verdict).toBe('ask');
  expect(parts).toMatchObject([
    { what: 'ls', verdict: 'allow', rule: 'read-only command' },
    { what: 'npm test', verdict: 'allow', rule: 'bash(npm test)' },
    { what: 'touch x', verdict: 'ask', reason: 'touch can change files.' },
  ]);
});

describe('a script in which a rule lets one part write', () => {
  const rules = { allow: ['bash(npm test)'] };

  test.each([
    ['npm test && ls -la && cat a.txt | grep x', 'allow'],
    ['npm test && git log --oneline', 'ask'],
    ['npm test; sort a.txt', 'ask'],
    ['npm test; find . -name x', 'ask'],
    ['git log --oneline', 'allow'],
  ])('%s: %s, as beside it only what can never write runs unasked', (command, verdict) => {
    expect(decide('ask', rules, 'bash', run(command)).verdict).toBe(verdict);
    expect(decide('auto', rules, 'bash', run(command)).verdict).toBe('allow');
  });

  test('the part that would be trusted too far is named, and a rule for it answers', () => {
    const explained = decide('ask', rules, 'bash', run('npm test; sort a.txt'));
    expect(explained).toMatchObject({ rule: 'beside writing', reason: expect.stringContaining('sort') });
    const both = { allow: ['bash(npm test)', 'bash(sort a.txt)'] };
    expect(decide('ask', both, 'bash', run('npm test; sort a.txt')).verdict).toBe('allow');
  });
});
