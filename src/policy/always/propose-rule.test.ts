import { describe, expect, test } from 'vitest';
import { ExecutionContext } from '../../kernel/call/execution-context.ts';
import type { Subject } from '../../kernel/ports.ts';
import type { Access } from '../../kernel/tool/access.ts';
import { createFilePolicy } from '../../kernel/world/file-policy.ts';
import type { ClassifiedChange } from '../../kernel/world/stage.ts';
import { createPolicy } from '../create-policy.ts';
import type { PolicyOptions } from '../policy-options.ts';
import { parseRule } from '../rules/parse-rules.ts';
import { checkRules, proposeRules } from './propose-rule.ts';

const options: PolicyOptions = { mode: 'ask', rules: [], files: createFilePolicy(), home: '/home/ana' };
const context = new ExecutionContext({ workingDir: '/home/ana/project' });

function subject(tool: string, access: Access, more: Partial<Subject> = {}): Subject {
  const rest = { args: {}, effect: 'once', ownReason: undefined, asksAlways: false, context } as const;
  return { tool, access: [access], ...rest, ...more };
}
const run = (command: string) => subject('bash', { kind: 'process.run', command, writes: 'stage' });
const rulesFor = (given: Subject) => {
  const proposed = proposeRules(given, options);
  return proposed.ok ? proposed.value.rules : proposed.error.message;
};

describe('commands', () => {
  test.each<[string, string[]]>([
    ['npm ci', ['bash(npm ci)']],
    ['npm ci && ls && make build', ['bash(npm ci)', 'bash(make build)']],
    ['npm ci 2>&1 | tail -5', ['bash(npm ci)']],
    ['timeout 60 cargo fetch --locked', ['bash(cargo fetch --locked)']],
    ["npm install 'a b'", ["bash(npm install 'a b')"]],
    ['/usr/bin/git pull', ['bash(git pull)']],
    ["echo '*' && npm install 'a*b'", ["bash(npm install 'a*b')"]],
  ])('%s gets the narrowest rules', (command, expected) => {
    expect(rulesFor(run(command))).toEqual(expected);
  });

  test('the rules answer the question, and only for exactly this', () => {
    for (const command of ['npm ci', "npm install 'a b'", "npm install 'a*b'", 'git pull --rebase']) {
      const proposed = proposeRules(run(command), options);
      if (!proposed.ok) throw new Error(proposed.error.message);
      const rules = proposed.value.rules.flatMap((rule) => {
        const parsed = parseRule(rule, 'allow');
        return parsed.ok ? [parsed.value] : [];
      });
      const policy = createPolicy({ ...options, rules });
      expect(policy.decide(run(command))).toMatchObject({ verdict: 'allow', byRule: true });
      for (const other of [`${command} x`, `${command}; touch x`, `X=1 ${command}`]) {
        expect([other, policy.decide(run(other)).verdict]).toEqual([other, 'ask']);
      }
    }
  });

  test.each<[string, string]>([
    ['npm ci; cat x | sh', 'can run anything'],
    ['npm ci; $X', 'plain words'],
    ['npm ci > log.txt', 'plain words'],
    ['python3 -c "print(1)"; npm ci', 'can run anything'],
    ['echo a | xargs npm install', 'still need approval'],
    ['sudo make install', 'can run anything'],
    ['npm install $TARGET', 'plain words'],
    ['for i in 1 2; do git fetch; done', 'still need approval'],
    ['npm install *.tgz', 'plain words'],
    ['npm ci; CFLAGS=-O2 make', 'plain words'],
    ['npm publish; docker ps', 'can run anything'],
    ['rm -rf /', 'it is refused'],
    ['ls', 'runs without approval already'],
    ['npm test', 'runs without approval already'],
    ['curl https://x.test', 'can run anything'],
    ['npm ci; make -f -', 'from its input'],
    ['npm ci; make -f-', 'from its input'],
    ['npx -y tsx -', 'from its input'],
    ['npx -y tsx', 'can run anything'],
    ['npx -y -c "tsx a.ts"', 'a script of its own'],
    ['psql', 'can run anything'],
    ['cat a.sql | psql', 'can run anything'],
    ['ssh host', 'can run anything'],
    ['git fetch; patch -p1', 'can run anything'],
    ...`nodejs pypy3 julia guile guile-3.0 ocaml octave octave-cli tclsh8.6 wish lua5.4 luajit R Rscript irb iex erl ghci scala groovy
      groovysh jshell php8.2 perl6 raku sbcl clisp racket mit-scheme scheme gforth gnuplot maxima node20 ipython3 clojure
      escript swipl gp bb swift .venv/bin/python python3 sqlite3`
      .split(/\s+/)
      .map((program): [string, string] => [`npm ci; echo x | ${program}`, 'can run anything']),
    ['npm ci; node -', 'from its input'],
  ])('%s gets none', (command, why) => {
    expect(rulesFor(run(command))).toContain(why);
  });
});

test('a process in the background is allowed by rules for all of its command', () => {
  const server = subject('bash', { kind: 'process.run', command: 'cd web && npm run dev', writes: 'background' });
  expect(rulesFor(server)).toEqual(['bash(cd web)', 'bash(npm run dev)']);
});

describe('pending changes', () => {
  const file = { type: 'file', mode: 0o644, size: 1, version: 'v' } as const;
  const changed = (path: string): ClassifiedChange => ({
    path,
    kind: 'modified',
    before: file,
    after: file,
    class: path.startsWith('.git/') ? 'protected' : path.startsWith('new') ? 'new' : 'ordinary',
  });
  const keep = (...paths: string[]) =>
    subject(
      'apply_changes',
      { kind: 'fs.apply', stage: 's', digest: 'd', paths, total: paths.length },
      { changes: paths.map(changed) },
    );

  test('get a rule for each path that is asked about', () => {
    expect(rulesFor(keep('src/a.ts', 'new.md', 'src/b.ts'))).toEqual([
      'apply_changes(src/a.ts)',
      'apply_changes(src/b.ts)',
    ]);
    expect(checkRules(['apply_changes(src/**)'], keep('src/a.ts'), options)).toMatchObject({ ok: true });
    expect(checkRules(['apply_changes(docs/**)'], keep('src/a.ts'), options)).toMatchObject({ ok: false });
  });

  test('get none where a person is always asked, and where there are too many', () => {
    expect(rulesFor(keep('src/a.ts', '.git/hooks/pre-commit'))).toContain('still need approval');
    expect(rulesFor(keep('a*b'))).toContain('pattern');
    expect(rulesFor(keep(...Array.from({ length: 30 }, (_, at) => `src/${at}`)))).toContain('30 parts');
  });
});

describe('other things', () => {
  test('a file, a host, a tool that does not say what it touches', () => {
    expect(rulesFor(subject('write_file', { kind: 'fs.write', path: 'docs/a.md' }))).toEqual(['write_file(docs/a.md)']);
    const page = subject('web_fetch', { kind: 'net.fetch', url: 'https://example.org/x?y', method: 'GET' });
    expect(rulesFor(page)).toEqual(['web_fetch(domain:example.org)']);
    const elsewhere = subject('web_fetch', { kind: 'net.fetch', url: 'https://example.org:8443/', method: 'GET' });
    expect(rulesFor(elsewhere)).toEqual(['web_fetch(domain:example.org:8443)']);
    const sent = subject('web_fetch', { kind: 'net.fetch', url: 'https://example.org/x', method: 'POST' });
    expect(rulesFor(sent)).toEqual(['web_fetch(POST domain:example.org)']);
    expect(rulesFor(subject('remote_tool', { kind: 'unknown' }))).toEqual(['remote_tool']);
  });

  test('what always asks, and what a pattern would widen, gets none', () => {
    const always = subject('delete_file', { kind: 'fs.delete', path: 'a' }, { ownReason: 'x', asksAlways: true });
    expect(rulesFor(always)).toContain('every time');
    expect(rulesFor(subject('write_file', { kind: 'fs.write', path: 'docs/*' }))).toContain('pattern');
    const hook = subject('write_file', { kind: 'fs.write', path: '.git/hooks/pre-commit' });
    expect(rulesFor(hook)).toContain('still need approval');
  });
});

describe('rules that a person wrote in the place of the proposed ones', () => {
  const wrote = (command: string, ...rules: string[]) => {
    const checked = checkRules(rules, run(command), options);
    return checked.ok ? checked.value.rules : checked.error.message;
  };

  test('narrower ones, and ones with a wildcard that lets nothing hostile through, are taken', () => {
    expect(wrote('npm ci && docker ps', 'bash(npm ci)')).toEqual(['bash(npm ci)']);
    expect(wrote('npm install lodash.get', 'bash(npm install lodash.g*)')).toEqual(['bash(npm install lodash.g*)']);
    const file = subject('write_file', { kind: 'fs.write', path: 'docs/a.md' });
    expect(checkRules(['write_file(docs/*.md)'], file, options)).toMatchObject({ ok: true });
  });

  test.each<[string, string[], string]>([
    ['npm ci', ['bash'], 'would also allow'],
    ['npm ci', ['bash(*)'], 'would also allow'],
    ['npm ci', ['bash(npm ci *)'], 'would also allow'],
    ['npm install lodash', ['bash(npm install *)'], 'would also allow'],
    ['npm install lodash', ['bash(npm * lodash)'], 'would also allow'],
    ['npm install lodash', ['bash(n* install lodash)'], 'would also allow'],
    ['make build && npm ci', ['bash(make *)', 'bash(npm ci)'], 'would also allow'],
    ['npm --prefix a/b ci', ['bash(npm --prefix a/* ci)'], 'would also allow'],
    ['npm ci', ['bash(npm ci)', 'bash(docker *)'], 'covers nothing'],
    ['npm ci', ['write_file(**)'], 'covers nothing'],
    ['npm ci && ls', ['bash(ls)'], 'needs no approval'],
    ['psql', ['bash(psql)'], 'can run anything'],
    ['npm ci', ['bash(npm ci'], 'cannot be used'],
  ])('for %s, %j is refused', (command, rules, why) => {
    expect(wrote(command, ...rules)).toContain(why);
  });

  test('for files and hosts a wildcard keeps the kind of the file, and the name of the host', () => {
    const file = subject('write_file', { kind: 'fs.write', path: 'docs/a.md' });
    const page = subject('web_fetch', { kind: 'net.fetch', url: 'https://www.example.org/x', method: 'GET' });
    for (const rule of ['write_file', 'write_file(docs/**)', 'write_file(docs/a*)'])
      expect(checkRules([rule], file, options)).toMatchObject({ ok: false });
    for (const rule of ['web_fetch', 'web_fetch(domain:*)', 'web_fetch(domain:*.org)'])
      expect(checkRules([rule], page, options)).toMatchObject({ ok: false });
    expect(checkRules(['web_fetch(domain:*.example.org)'], page, options)).toMatchObject({ ok: true });
  });
});
