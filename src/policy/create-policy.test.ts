import { describe, expect, test } from 'vitest';
import { ExecutionContext } from '../kernel/call/execution-context.ts';
import type { Subject } from '../kernel/ports.ts';
import type { Access } from '../kernel/tool/access.ts';
import { createFilePolicy } from '../kernel/world/file-policy.ts';
import { createPolicy } from './create-policy.ts';
import type { Mode } from './mode.ts';
import { type KnownTools, parseRule, parseRules, type RuleSet } from './rules/parse-rules.ts';
import { strictCommands } from './rules/strict-list.ts';

const context = new ExecutionContext({ workingDir: '/home/ana/project' });

type Given = Partial<Subject> & { readonly known?: KnownTools };

function decide(mode: Mode, rules: RuleSet, tool: string, access: Access[], { known, ...more }: Given = {}) {
  const parsed = parseRules(rules, known);
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

const run = (command: string): Access[] => [{ kind: 'process.run', command, writes: 'stage' }];
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
    ['a command', run('npm test'), { plan: 'allow', ask: 'allow', auto: 'allow', strict: 'deny' }],
    ['a computed command', run('$x'), { plan: 'allow', ask: 'allow', auto: 'allow', strict: 'deny' }],
    ['an empty command', run('# nothing'), { plan: 'allow', ask: 'allow', auto: 'allow', strict: 'deny' }],
    ['a command with network', run('npm ci'), { plan: 'allow', ask: 'ask', auto: 'allow', strict: 'deny' }],
    ['an effect outside', run('docker ps'), { plan: 'allow', ask: 'ask', auto: 'allow', strict: 'deny' }],
    ['a lasting effect outside', run('npm publish'), { plan: 'allow', ask: 'ask', auto: 'ask', strict: 'deny' }],
    [
      "what git prints of a sensitive file's past",
      [{ kind: 'process.run', command: 'git log -p .env', writes: 'stage' }],
      { plan: 'allow', ask: 'allow', auto: 'allow', strict: 'deny' },
    ],
    [
      'a process in the background',
      [{ kind: 'process.run', command: 'npm run dev', writes: 'background' }],
      { plan: 'deny', ask: 'ask', auto: 'allow', strict: 'deny' },
    ],
    [
      'code',
      [{ kind: 'process.run', command: 'print(1)', writes: 'stage', code: 'python' }],
      { plan: 'allow', ask: 'allow', auto: 'allow', strict: 'deny' },
    ],
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

  test('[D16] strict refuses what is not on its list and names the list; the default mode runs it in a stage', () => {
    const list = strictCommands('bash');
    expect(decide('strict', list, 'bash', run('ls -la')).verdict).toBe('allow');
    expect(decide('strict', list, 'bash', run('npm install')).verdict).toBe('allow');
    expect(decide('strict', list, 'bash', run('npm install && ls')).verdict).toBe('allow');
    expect(decide('strict', list, 'bash', run('npm install -D vitest@4 && npm test -- --run')).verdict).toBe('allow');
    for (const unusual of [
      ...['rg --pre ./x y', 'sort -o out a', 'find . -delete', 'git branch -D main', 'git diff --output=x', 'cat "$X"'],
      ...[
        'npm install --script-shell x',
        'npm install ./evil',
        'npm run --script-shell=x a',
        'uniq a b',
        'git branch x',
      ],
      ...['find . -exec make {} +', 'npm test; find . -name "$X"', 'file -F "$X" f', 'PATH=. ls', 'X=1 npm test', '$X'],
    ]) {
      expect([unusual, decide('strict', list, 'bash', run(unusual)).verdict]).toEqual([unusual, 'deny']);
    }
    const refused = decide('strict', list, 'bash', run('make all'));
    expect(refused).toMatchObject({ verdict: 'deny', reason: expect.stringContaining('only listed calls') });
    expect(decide('strict', list, 'bash', run('cat .env')).verdict).toBe('deny');
    expect(decide('strict', list, 'bash', run('npm install; curl x | sh')).verdict).toBe('deny');
    const staged = { kind: 'process.run', command: 'make all', writes: 'stage' };
    expect(decide('ask', {}, 'bash', run('make all'))).toMatchObject({ verdict: 'allow', access: [staged] });
  });
});

describe('the access that is granted', () => {
  const granted = (mode: Mode, command: string, rules: RuleSet = {}, writes: 'stage' | 'background' = 'stage') =>
    decide(mode, rules, 'bash', [{ kind: 'process.run', command, writes }]).access?.[0];
  const rule = { allow: ['bash(npm *)'] };

  test('the network comes with a yes, a rule for all of the command, or mode auto', () => {
    expect(granted('ask', 'make')).not.toHaveProperty('network');
    expect(granted('ask', 'npm ci')).toMatchObject({ writes: 'stage', network: true });
    expect(granted('ask', 'npm test', rule)).toMatchObject({ writes: 'stage', network: true });
    expect(granted('ask', 'npm test | tail -5', rule)).toMatchObject({ network: true });
    expect(granted('ask', 'npm test && make', rule)).not.toHaveProperty('network');
    expect(granted('auto', 'make')).toMatchObject({ writes: 'stage', network: true });
    expect(granted('plan', 'npm ci', rule)).not.toHaveProperty('network');
    expect(granted('ask', 'npm start', rule, 'background')).toMatchObject({ writes: 'background', network: true });
  });

  test('strict gives it to listed commands that need it, and to what the user lists', () => {
    expect(granted('strict', 'npm ci', strictCommands('bash'))).toMatchObject({ network: true });
    expect(granted('strict', 'npm test', strictCommands('bash'))).not.toHaveProperty('network');
    expect(granted('strict', 'npm test', rule)).toMatchObject({ network: true });
  });

  test('what no rule covers does not share the network of another part unasked', () => {
    const beside = (command: string) => decide('ask', rule, 'bash', run(command));
    expect(beside('npm ci && make')).toMatchObject({ verdict: 'ask', rule: 'network' });
    expect(beside('npm ci; $X').verdict).toBe('ask');
    expect(beside('LD_PRELOAD=./x.so npm ci').verdict).toBe('ask');
    expect(beside('npm ci 2>&1 | tail -5').verdict).toBe('allow');
    // Only a plain script is covered by rules.
    expect(beside('npm ci 2>&1 | tail -5 > log.txt').verdict).toBe('ask');
    expect(beside('cd / && npm ci')).toMatchObject({ verdict: 'ask', rule: 'network' });
    const there = { allow: ['bash(npm *)', 'bash(cd web)'] };
    expect(decide('ask', there, 'bash', run('cd web && npm ci')).verdict).toBe('allow');
    expect(decide('ask', there, 'bash', run('cd other && npm ci')).verdict).toBe('ask');
    expect(decide('auto', rule, 'bash', run('npm ci && make')).verdict).toBe('allow');
  });

  test('the rule of the user by which all of a command ran is named', () => {
    const ran = (command: string, rules: RuleSet = rule, mode: Mode = 'ask') => {
      const { rule: by, byRule } = decide(mode, rules, 'bash', run(command));
      return byRule ? by : null;
    };
    expect(ran('npm run format')).toBe('bash(npm *)');
    expect(ran('npm run format 2>&1 | tail -3')).toBe('bash(npm *)');
    expect(ran('cd web && npm run format')).toBe(null);
    expect(ran('cd web && npm run format', { allow: ['bash(npm *)', 'bash(cd *)'] })).toBe('bash(cd *)');
    expect(ran('npm run format', { allow: ['bash'] }, 'auto')).toBe('bash');
    for (const command of ['make', 'npm test && make', 'npm test > a.txt', 'X=1 npm test', 'npm "$X"', 'npm test; $X'])
      expect([command, ran(command)]).toEqual([command, null]);
    expect(ran('ls -la', strictCommands('bash'), 'strict')).toBe(null);
    expect(ran('ls -la', { allow: ['bash(ls *)'] }, 'strict')).toBe('bash(ls *)');
    expect(ran('npm ci', {}, 'auto')).toBe(null);
    const env = [{ kind: 'process.run', command: 'npm test', writes: 'stage', env: ['NODE_OPTIONS'] } as const];
    expect(decide('ask', rule, 'bash', env).byRule).toBeUndefined();
  });

  const strictDiff = (env: string[], riskyEnv: string[] = []) =>
    decide('strict', strictCommands('bash'), 'bash', [
      { kind: 'process.run', command: 'git diff', writes: 'stage', env, riskyEnv },
    ]);

  test.each([
    ...[
      'GIT_EXTERNAL_DIFF',
      'MAKEFLAGS',
      'MAKEFILES',
      'PYTEST_PLUGINS',
      'PYTEST_ADDOPTS',
      'RUSTC_WRAPPER',
      'CC',
      'ANY',
    ],
    ...['JDK_JAVA_OPTIONS', 'GOFLAGS', 'DOTNET_STARTUP_HOOKS', 'OPENSSL_CONF', 'ZDOTDIR', 'GIT_AUTHOR_X', 'LC', 'HOME'],
  ])('mode strict runs no listed command with the variable %s, which is not on its list', (name) => {
    const { verdict, reason } = strictDiff([name]);
    expect(verdict).toBe('deny');
    expect(reason).toContain(`The variable ${name} is not on the list of harmless variables`);
  });

  test.each([
    'find /',
    'cat //',
    'ls --all=/',
    'ls /home/ana/x/..',
    'cat /home/x/../ana/project/a',
    'cat /*/x',
    'cat "/"',
  ])('mode strict names no folder above the workspace by an absolute path: %s', (command) => {
    const parts = decide('strict', { allow: ['bash'] }, 'bash', run(command));
    expect(JSON.stringify(parts)).toContain('takes no absolute paths');
  });

  test('mode strict passes harmless variables, unless the value of one may be run', () => {
    const names = [
      'NODE_ENV',
      'CI',
      'LANG',
      'LC_ALL',
      'TZ',
      'PORT',
      'DEBUG',
      'FORCE_COLOR',
      'NO_COLOR',
      'TERM',
      'COLUMNS',
    ];
    const more = ['LINES', 'PYTHONUNBUFFERED', 'PYTHONDONTWRITEBYTECODE', 'GIT_AUTHOR_NAME', 'GIT_COMMITTER_EMAIL'];
    expect(strictDiff([...names, ...more]).verdict).toBe('allow');
    const { verdict, reason } = strictDiff(['CI', 'DEBUG'], ['DEBUG']);
    expect([verdict, reason]).toEqual(['deny', expect.stringContaining('The value of DEBUG has signs')]);
  });
});

describe('where nothing stages', () => {
  const judged = (effects: 'read-first' | 'live', mode: Mode, access: Access, rules: RuleSet = {}) => {
    const parsed = parseRules(rules);
    if (!parsed.ok) throw new Error(parsed.error.message);
    const policy = createPolicy({ mode, rules: parsed.value, files: createFilePolicy(), home: '/home/ana', effects });
    const own = { tool: 'bash', args: {}, effect: 'once', ownReason: undefined, asksAlways: false, context } as const;
    const { verdict, access: granted } = policy.decide({ ...own, access: [access] });
    const [first] = granted ?? [];
    return [verdict, first?.kind === 'process.run' && first.writes];
  };
  const [first] = run('make') as [Access];
  const again: Access = { kind: 'process.run', command: 'make', writes: 'workspace' };
  const code: Access = { kind: 'process.run', command: 'x', writes: 'stage', code: 'python' };
  const rule = { allow: ['bash(make)'] };

  test('a command reads first, unasked, and a person is asked before it runs live', () => {
    expect(judged('read-first', 'ask', first)).toEqual(['allow', 'nothing']);
    expect(judged('read-first', 'ask', again)).toEqual(['ask', 'workspace']);
    expect(judged('read-first', 'ask', code)).toEqual(['allow', 'nothing']);
    expect(judged('read-first', 'ask', { ...code, writes: 'workspace' })).toEqual(['ask', 'workspace']);
    expect(judged('read-first', 'ask', first, rule)).toEqual(['allow', 'workspace']);
    expect(judged('read-first', 'auto', first)).toEqual(['allow', 'workspace']);
    expect(judged('read-first', 'plan', first, rule)[0]).toBe('allow');
    expect(judged('read-first', 'plan', again, rule)[0]).toBe('deny');
  });

  test('without a sandbox every command without a rule is asked about, whatever the mode', () => {
    for (const mode of ['ask', 'auto'] as const) {
      expect(judged('live', mode, first)).toEqual(['ask', 'workspace']);
      expect(judged('live', mode, code)).toEqual(['ask', 'workspace']);
      expect(judged('live', mode, first, rule)).toEqual(['allow', 'workspace']);
      expect(judged('live', mode, { kind: 'process.run', command: 'ls', writes: 'background' })[0]).toBe('ask');
    }
    expect(judged('live', 'plan', first, rule)[0]).toBe('deny');
    expect(judged('live', 'plan', code)[0]).toBe('deny');
    expect(judged('live', 'strict', first)[0]).toBe('deny');
    expect(judged('live', 'strict', first, rule)).toEqual(['allow', 'workspace']);
  });
});

describe('rules', () => {
  test('deny beats ask beats allow, whatever the order', () => {
    const rules = { allow: ['bash(npm *)'], ask: ['bash(npm publish *)'], deny: ['bash(npm run evil)'] };
    expect(decide('ask', rules, 'bash', run('npm test')).verdict).toBe('allow');
    expect(decide('auto', rules, 'bash', run('npm publish')).verdict).toBe('ask');
    expect(decide('auto', rules, 'bash', run('npm run evil')).verdict).toBe('deny');
    expect(decide('ask', rules, 'bash', run('npm ci && docker ps')).verdict).toBe('ask');
    expect(decide('ask', rules, 'bash', run('npm ci $X')).verdict).toBe('ask');
    expect(decide('ask', rules, 'other', run('npm ci')).verdict).toBe('ask');
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
      { kind: 'process.run', command, writes: 'stage', code: language },
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
      decide('ask', { allow: [rule] }, 'bash', run(command)).byRule === true;
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

  test('a rule about changing a path holds for every tool that changes it, never for reading it', () => {
    const kinds = { write_file: 'writes', move_file: 'both', delete_file: 'deletes' } as const;
    const known: KnownTools = {
      has: () => true,
      tool: (name) => ({ name, access: () => [], ...(name in kinds && { changesFiles: kinds[name as 'write_file'] }) }),
    };
    const by = (
      rules: RuleSet,
      tool: string,
      kind: 'fs.read' | 'fs.write' | 'fs.delete',
      more: Partial<Subject> = {},
    ) => decide('ask', rules, tool, [{ kind, path: 'docs/a.md' }], { ...more, known }).verdict;
    const never = { deny: ['write_file(docs/**)'] };
    for (const tool of ['write_file', 'edit_file', 'apply_patch', 'remote'])
      expect(by(never, tool, 'fs.write')).toBe('deny');
    expect(by(never, 'delete_file', 'fs.delete')).toBe('deny');
    expect(by(never, 'read_file', 'fs.read')).toBe('allow');
    expect(by({ deny: ['delete_file(docs/**)'] }, 'edit_file', 'fs.write')).toBe('ask');
    expect(by({ deny: ['write_file'] }, 'edit_file', 'fs.write')).toBe('ask');

    const always = { allow: ['write_file(docs/**)'] };
    expect(by(always, 'edit_file', 'fs.write')).toBe('allow');
    expect(by(always, 'edit_file', 'fs.write', { ownReason: 'it is large' })).toBe('allow');
    expect(by(always, 'move_file', 'fs.delete')).toBe('ask');
    expect(by({ allow: ['apply_changes(**)'] }, 'edit_file', 'fs.write')).toBe('ask');
  });

  test('a rule for a host allows reading alone, unless it names a method, and holds back every method', () => {
    const by = (rules: RuleSet, method: 'GET' | 'POST') => {
      const { verdict, reason, access } = decide('ask', rules, 'web_fetch', [
        { kind: 'net.fetch', url: 'https://a.test/x', method },
      ]);
      return { verdict, reason, redirects: access?.[0]?.kind === 'net.fetch' ? access[0].redirects : undefined };
    };
    const read = { allow: ['web_fetch(domain:a.test)', 'web_fetch(domain:b.test)'] };
    expect(by(read, 'GET')).toMatchObject({ verdict: 'allow', redirects: { to: ['a.test', 'b.test'] } });
    expect(by(read, 'POST')).toMatchObject({
      verdict: 'ask',
      reason: 'A rule allows a.test for another method than POST.',
      redirects: { to: [] },
    });
    const send = { allow: ['web_fetch(POST domain:a.test)'] };
    expect([by(send, 'GET').verdict, by(send, 'POST').verdict]).toEqual(['ask', 'allow']);
    const every = { allow: ['web_fetch'] };
    expect([by(every, 'GET').verdict, by(every, 'POST').verdict]).toEqual(['allow', 'allow']);
    const never = { ...every, deny: ['web_fetch(domain:a.test)'] };
    expect([by(never, 'GET').verdict, by(never, 'POST').verdict]).toEqual(['deny', 'deny']);
    const noPost = { ...every, deny: ['web_fetch(POST domain:a.test)'] };
    expect([by(noPost, 'GET').verdict, by(noPost, 'POST').verdict]).toEqual(['allow', 'deny']);
    const noGet = { ...every, ask: ['web_fetch(GET domain:b.test)'] };
    expect(by(noGet, 'POST').redirects).toEqual({ to: ['*'], notTo: ['b.test'] });
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
    const send = { rule: 'web_fetch(POST domain:a.test)', matches: ['POST https://a.test/'], not: ['https://a.test/'] };
    expect(parseRule(send, 'allow').ok).toBe(true);
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
    run('make && npm test && curl a'),
  );
  expect(mode).toBe('ask');
  expect(verdict).toBe('ask');
  expect(parts).toMatchObject([
    { what: 'make', verdict: 'allow', rule: 'judged by its changes' },
    { what: 'npm test', verdict: 'allow', rule: 'bash(npm test)' },
    { what: 'curl a', verdict: 'ask', reason: 'curl uses the network.' },
  ]);
});
