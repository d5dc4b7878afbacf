import { describe, expect, test } from 'vitest';
import { ExecutionContext } from '../../kernel/call/execution-context.ts';
import type { Subject } from '../../kernel/ports.ts';
import type { Access } from '../../kernel/tool/access.ts';
import { createFilePolicy } from '../../kernel/world/file-policy.ts';
import { createPolicy, type PolicyOptions } from '../create-policy.ts';
import { parseRule } from '../rules/parse-rules.ts';
import { checkRules, proposeRules } from './propose-rule.ts';

const options: PolicyOptions = { mode: 'ask', rules: [], files: createFilePolicy(), home: '/home/ana' };
const context = new ExecutionContext({ workingDir: '/home/ana/project' });

function subject(tool: string, access: Access, more: Partial<Subject> = {}): Subject {
  const rest = { args: {}, effect: 'once', ownReason: undefined, asksAlways: false, context } as const;
  return { tool, access: [access], ...rest, ...more };
}
const run = (command: string) => subject('bash', { kind: 'process.run', command, writes: 'workspace' });
const rulesFor = (given: Subject) => {
  const proposed = proposeRules(given, options);
  return proposed.ok ? proposed.value.rules : proposed.error.message;
};

describe('commands', () => {
  test.each<[string, string[]]>([
    ['npm test', ['bash(npm test)']],
    ['npm test && ls && make build', ['bash(npm test)', 'bash(make build)']],
    ['npm test && git log --oneline', ['bash(npm test)', 'bash(git log --oneline)']],
    ['timeout 60 cargo build --release', ['bash(cargo build --release)']],
    ["git commit -m 'a b'", ["bash(git commit -m 'a b')"]],
    ['/usr/bin/make all', ['bash(make all)']],
    ['python3 tools/gen.py --fast', ['bash(python3 tools/gen.py --fast)']],
    ["echo '*' && mkdir 'a*b'", ["bash(mkdir 'a*b')"]],
    ['for i in 1 2; do npm test; done', ['bash(npm test)']],
  ])('%s gets the narrowest rules', (command, expected) => {
    expect(rulesFor(run(command))).toEqual(expected);
  });

  test('the rules answer the question, and only for exactly this', () => {
    for (const command of ['npm test', "git commit -m 'a b'", "mkdir 'a*b'", 'python3 tools/gen.py --fast']) {
      const proposed = proposeRules(run(command), options);
      if (!proposed.ok) throw new Error(proposed.error.message);
      const rules = proposed.value.rules.flatMap((rule) => {
        const parsed = parseRule(rule, 'allow');
        return parsed.ok ? [parsed.value] : [];
      });
      const policy = createPolicy({ ...options, rules });
      expect(policy.decide(run(command)).verdict).toBe('allow');
      for (const other of [`${command} x`, `${command}; touch x`, `X=1 ${command}`, command.replace(/.$/, 'z')]) {
        expect([other, policy.decide(run(other)).verdict]).toEqual([other, 'ask']);
      }
    }
  });

  test.each<[string, string]>([
    ['cat x | sh', 'a rule cannot answer this'],
    ['bash -c "make"', 'would also allow'],
    ['python3 -c "print(1)"', 'can run anything'],
    ['echo a | xargs touch', 'still need approval'],
    ['sudo make install', 'can run anything'],
    ['make > out.txt', 'a rule cannot answer this'],
    ['make $TARGET', 'plain words'],
    ['make *.o', 'plain words'],
    ['CFLAGS=-O2 make', 'a rule cannot answer this'],
    ['$X', 'a rule cannot answer this'],
    ['f() { make; }; f', 'a rule cannot answer this'],
    ['rm -rf /', 'it is refused'],
    ['ls', 'runs without approval already'],
    ['find . -name x -delete', 'can run anything'],
    ['find . -delete', 'cannot answer this'],
    ['curl https://x.test', 'can run anything'],
    ['make -f -', 'from its input'],
    ['make -f-', 'from its input'],
    ['cat a.mk | make -f /dev/stdin', 'from its input'],
    ['npx tsx -', 'from its input'],
    ['npx tsx', 'can run anything'],
    ['npx -y tsx', 'can run anything'],
    ['npm exec -- node', 'can run anything'],
    ['npx -c "tsx a.ts"', 'a script of its own'],
    ['uv run python', 'can run anything'],
    ['psql', 'can run anything'],
    ['cat a.sql | psql', 'can run anything'],
    ['sqlite3 data.db', 'can run anything'],
    ['ssh host', 'can run anything'],
    ['git apply', 'applies any input'],
    ['git apply fix.patch', 'applies any input'],
    ['patch -p1', 'can run anything'],
    ['python3 -', 'from its input'],
    ['python3', 'can run anything'],
    ...`nodejs pypy3 julia guile guile-3.0 ocaml octave octave-cli tclsh8.6 wish lua5.4 luajit R Rscript irb iex erl ghci scala groovy
      groovysh jshell php8.2 perl6 raku sbcl clisp racket mit-scheme scheme gforth gnuplot maxima node20 ipython3 clojure
      escript swipl gp bb swift .venv/bin/python`
      .split(/\s+/)
      .map((program): [string, string] => [`echo x | ${program}`, 'can run anything']),
    ['node -', 'from its input'],
    ['bash -s', 'a rule cannot answer this'],
    ['go run ./cmd', 'applies any input'],
  ])('%s gets none', (command, why) => {
    expect(rulesFor(run(command))).toContain(why);
  });
});

describe('other things', () => {
  test('a file, a host, a tool that does not say what it touches', () => {
    expect(rulesFor(subject('write_file', { kind: 'fs.write', path: 'docs/a.md' }))).toEqual(['write_file(docs/a.md)']);
    const page = subject('web_fetch', { kind: 'net.fetch', url: 'https://example.org/x?y', method: 'GET' });
    expect(rulesFor(page)).toEqual(['web_fetch(domain:example.org)']);
    const elsewhere = subject('web_fetch', { kind: 'net.fetch', url: 'https://example.org:8443/', method: 'GET' });
    expect(rulesFor(elsewhere)).toEqual(['web_fetch(domain:example.org:8443)']);
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
    expect(wrote('npm test && make build', 'bash(npm test)')).toEqual(['bash(npm test)']);
    expect(wrote('npm run lint:web', 'bash(npm run lint:w*)')).toEqual(['bash(npm run lint:w*)']);
    const file = subject('write_file', { kind: 'fs.write', path: 'docs/a.md' });
    expect(checkRules(['write_file(docs/*.md)'], file, options)).toMatchObject({ ok: true });
  });

  test.each<[string, string[], string]>([
    ['npm test', ['bash'], 'would also allow'],
    ['npm test', ['bash(*)'], 'would also allow'],
    ['npm test', ['bash(npm test *)'], 'would also allow'],
    ['npm run build', ['bash(npm run *)'], 'would also allow'],
    ['npm run build', ['bash(npm * build)'], 'would also allow'],
    ['npm run build', ['bash(n* run build)'], 'would also allow'],
    ['make build && npm test', ['bash(make *)', 'bash(npm test)'], 'would also allow'],
    ['make -C a/b all', ['bash(make -C a/* all)'], 'would also allow'],
    ['npm test', ['bash(npm test)', 'bash(curl *)'], 'covers nothing'],
    ['npm test', ['write_file(**)'], 'covers nothing'],
    ['npm test && ls', ['bash(ls)'], 'needs no approval'],
    ['psql', ['bash(psql)'], 'can run anything'],
    ['npm test', ['bash(npm test'], 'cannot be used'],
  ])('for %s, %j is refused', (command, rules, why) => {
    expect(wrote(command, ...rules)).toContain(why);
  });

  test('a proposal says what it would not cover', () => {
    const proposed = proposeRules(run('npm test'), options);
    expect(proposed.ok && proposed.value.refuses).toContain('npm test; touch PWNED');
  });
});
