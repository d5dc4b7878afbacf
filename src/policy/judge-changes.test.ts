import { describe, expect, test } from 'vitest';
import { ExecutionContext } from '../kernel/call/execution-context.ts';
import type { Subject } from '../kernel/ports.ts';
import type { FileChangeKind } from '../kernel/tool/tool.ts';
import { createFilePolicy } from '../kernel/world/file-policy.ts';
import { CHANGE_CLASSES, type ChangeClass, type ClassifiedChange, type PathVersion } from '../kernel/world/stage.ts';
import { createPolicy } from './create-policy.ts';
import { MODES, type Mode } from './mode.ts';
import { type KnownTools, parseRules, type RuleSet } from './rules/parse-rules.ts';

const context = new ExecutionContext({ workingDir: '/home/ana/project' });

const CHANGES_FILES: Readonly<Record<string, FileChangeKind>> = {
  apply_changes: 'both',
  write_file: 'writes',
  move_file: 'both',
  delete_file: 'deletes',
};
const tools: KnownTools = {
  has: () => true,
  tool: (name) => {
    const changesFiles = CHANGES_FILES[name];
    return {
      name,
      patterns: name === 'bash' ? 'commands' : 'paths',
      access: () => [],
      ...(changesFiles && { changesFiles }),
    };
  },
};

const file: PathVersion = { type: 'file', mode: 0o644, size: 1, version: 'v' };
const folder: PathVersion = { type: 'directory', mode: 0o755, size: 0, version: 'v' };

function change(path: string, kind: ClassifiedChange['kind'] = 'modified', more: Partial<ClassifiedChange> = {}) {
  const before = kind === 'created' ? null : file;
  const after = kind === 'deleted' ? null : file;
  return { path, kind, before, after, class: 'ordinary', ...more } as ClassifiedChange;
}

function explain(
  changes: readonly ClassifiedChange[],
  mode: Mode = 'ask',
  rules: RuleSet = {},
  more: Partial<Subject> = {},
) {
  const parsed = parseRules(rules, tools);
  if (!parsed.ok) throw new Error(parsed.error.message);
  const policy = createPolicy({ mode, rules: parsed.value, files: createFilePolicy(), home: '/home/ana' });
  const paths = changes.slice(0, 20).map(({ path }) => path);
  return policy.explain({
    tool: 'apply_changes',
    args: { stage: 's' },
    access: [{ kind: 'fs.apply', stage: 's', digest: 'd', paths, total: changes.length }],
    effect: 'once',
    ownReason: undefined,
    asksAlways: false,
    context,
    changes,
    ...more,
  });
}
const verdict = (...given: Parameters<typeof explain>) => explain(...given).verdict;
const NEVER = { plan: 'deny', ask: 'deny', auto: 'deny', strict: 'deny' };

describe('each class in each mode', () => {
  const kept = { plan: 'deny', ask: 'allow', auto: 'allow', strict: 'allow' };
  const asked = { plan: 'deny', ask: 'ask', auto: 'allow', strict: 'allow' };
  const careful = { plan: 'deny', ask: 'ask', auto: 'ask', strict: 'deny' };
  const expected: Readonly<Record<ChangeClass, Record<Mode, string>>> = {
    ignored: kept,
    new: kept,
    ordinary: asked,
    packages: asked,
    repository: asked,
    protected: careful,
    sensitive: NEVER,
    special: NEVER,
  };

  test.each(CHANGE_CLASSES)('%s', (kind) => {
    const one = [change('a', kind === 'new' ? 'created' : 'modified', { class: kind })];
    for (const mode of MODES) expect([mode, verdict(one, mode)]).toEqual([mode, expected[kind][mode]]);
  });

  test.each(CHANGE_CLASSES)('%s, where it takes away what nothing else has', (kind) => {
    const one = [change('a', 'deleted', { class: kind, loses: true, reason: 'text in no commit' })];
    const wanted = expected[kind] === NEVER ? NEVER : careful;
    for (const mode of MODES) expect([mode, verdict(one, mode)]).toEqual([mode, wanted[mode]]);
  });

  test.each(CHANGE_CLASSES)('%s, that changed in the workspace while the command ran', (kind) => {
    const wanted = expected[kind] === NEVER ? NEVER : careful;
    for (const how of ['modified', 'deleted'] as const)
      for (const mode of MODES) {
        const one = [change('a', how, { class: kind, overtaken: true })];
        const byRule = { allow: ['apply_changes(**)'] };
        expect([mode, verdict(one, mode)]).toEqual([mode, wanted[mode]]);
        expect([mode, verdict(one, mode, byRule, { allowedBy: 'bash(x)' })]).toEqual([mode, wanted[mode]]);
      }
  });

  test.each(CHANGE_CLASSES)('%s, of a run that was stopped: only ignored files are kept', (kind) => {
    const one = [change('a', 'modified', { class: kind })];
    for (const mode of ['ask', 'auto', 'strict'] as const)
      expect([mode, verdict(one, mode, {}, { isPartial: true })]).toEqual([
        mode,
        kind === 'ignored' ? 'allow' : 'deny',
      ]);
  });

  test.each(CHANGE_CLASSES)('%s, of a command that a rule of the user allows', (kind) => {
    const one = [change('a', 'modified', { class: kind })];
    const wanted = { ...expected[kind], ask: expected[kind] === asked ? 'allow' : expected[kind].ask };
    for (const mode of MODES)
      expect([mode, verdict(one, mode, {}, { allowedBy: 'bash(npm run format)' })]).toEqual([mode, wanted[mode]]);
  });
});

describe('text in no commit, of a command that a rule of the user allows', () => {
  const loss = { loses: true, reason: 'its text is in no commit' } as const;
  const allowed = { allowedBy: 'bash(npm run format)' };

  test.each(['modified', 'deleted'] as const)('an ordinary file that was %s is kept, but in mode plan', (kind) => {
    const expected = { plan: 'deny', ask: 'allow', auto: 'allow', strict: 'allow' };
    for (const mode of MODES)
      expect([mode, verdict([change('a', kind, loss)], mode, {}, allowed)]).toEqual([mode, expected[mode]]);
  });

  test.each<[string, Partial<ClassifiedChange>]>([
    ['a protected file', { class: 'protected' }],
    ['data of a repository', { class: 'repository' }],
    ['packages', { class: 'packages' }],
    ['a folder', { before: folder, entries: 9 }],
    ['a file that changed in the workspace meanwhile', { overtaken: true }],
  ])('%s is asked about, and refused in strict', (_what, more) => {
    const one = [change('a', 'deleted', { ...loss, ...more })];
    for (const mode of ['ask', 'auto'] as const) expect([mode, verdict(one, mode, {}, allowed)]).toEqual([mode, 'ask']);
    expect(verdict(one, 'strict', {}, allowed)).toBe('deny');
  });

  test.each(['bash', 'bash(*)', 'bash(git *)', 'bash(npm run *)'])(
    'a rule for more commands, %s, says nothing of it',
    (rule) => {
      const one = [change('a', 'modified', loss)];
      expect(verdict(one, 'auto', {}, { allowedBy: rule })).toBe('ask');
      expect(verdict(one, 'strict', {}, { allowedBy: rule })).toBe('deny');
    },
  );

  test('an ask or deny rule about the path comes first', () => {
    const one = [change('a', 'modified', loss)];
    expect(verdict(one, 'auto', { ask: ['apply_changes(**)'] }, allowed)).toBe('ask');
    expect(verdict(one, 'auto', { deny: ['write_file(**)'] }, allowed)).toBe('deny');
  });
});

describe('rules about paths', () => {
  test.each<[string, RuleSet, ClassifiedChange, string]>([
    ['an allow rule of its own', { allow: ['apply_changes(docs/**)'] }, change('docs/a.md'), 'allow'],
    ['an allow rule elsewhere', { allow: ['apply_changes(docs/**)'] }, change('src/a.ts'), 'ask'],
    ['an allow rule as a whole', { allow: ['apply_changes'] }, change('src/a.ts', 'deleted'), 'allow'],
    ['an ask rule of its own', { ask: ['apply_changes(**)'] }, change('a', 'created', { class: 'new' }), 'ask'],
    ['a deny rule of its own', { deny: ['apply_changes(docs/**)'] }, change('docs/a.md'), 'deny'],
    ['an allow rule of a file tool', { allow: ['write_file(docs/**)'] }, change('docs/a.md'), 'allow'],
    ['which does not allow to delete', { allow: ['write_file(docs/**)'] }, change('docs/a.md', 'deleted'), 'ask'],
    ['one that moves files does', { allow: ['move_file(docs/**)'] }, change('docs/a.md', 'deleted'), 'allow'],
    ['a deny rule of a file tool', { deny: ['write_file(docs/**)'] }, change('docs/a.md'), 'deny'],
    ['which refuses deletions too', { deny: ['write_file(docs/**)'] }, change('docs/a.md', 'deleted'), 'deny'],
    ['a rule about deleting', { deny: ['delete_file(**)'] }, change('docs/a.md', 'deleted'), 'deny'],
    ['which says nothing of writing', { deny: ['delete_file(**)'], allow: ['write_file(**)'] }, change('a'), 'allow'],
    ['a rule about another file tool as a whole', { deny: ['write_file'] }, change('a'), 'ask'],
    ['a rule about reading', { deny: ['read_file(**)'] }, change('a'), 'ask'],
    ['a rule about commands', { allow: ['bash(a)'] }, change('a'), 'ask'],
    ['a refusal beats an allow', { deny: ['write_file(a)'], allow: ['apply_changes(**)'] }, change('a'), 'deny'],
    [
      'a folder that was deleted whole',
      { deny: ['write_file(a/b/**)'] },
      change('a', 'deleted', { before: folder, entries: 9 }),
      'deny',
    ],
    [
      'a folder in which there may be such a file',
      { deny: ['write_file(**/*.lock)'], allow: ['apply_changes(**)'] },
      change('a', 'deleted', { before: folder, entries: 9 }),
      'ask',
    ],
    ['a protected file', { allow: ['apply_changes(**)'] }, change('.envrc', 'created', { class: 'protected' }), 'ask'],
    ['a secret', { allow: ['apply_changes(**)'] }, change('.env', 'created', { class: 'sensitive' }), 'deny'],
    ['a lasting loss', { allow: ['apply_changes(**)'] }, change('a', 'deleted', { loses: true }), 'allow'],
  ])('%s', (_what, rules, one, wanted) => {
    expect(verdict([one], 'ask', rules)).toBe(wanted);
  });

  test('a rule is named where it decides', () => {
    expect(explain([change('docs/a')], 'ask', { allow: ['write_file(docs/**)'] }).rule).toBe('write_file(docs/**)');
    expect(explain([change('a')], 'auto', { ask: ['apply_changes(**)'] })).toMatchObject({
      verdict: 'ask',
      rule: 'apply_changes(**)',
    });
    expect(explain([change('a')], 'strict', { ask: ['apply_changes(**)'] }).verdict).toBe('deny');
  });

  test('one refusal refuses the list, names the paths and says how to keep the others', () => {
    const { verdict: all, reason } = explain([change('src/a.ts'), change('docs/a.md'), change('docs/b.md')], 'auto', {
      deny: ['write_file(docs/**)'],
    });
    expect(all).toBe('deny');
    expect(reason).toBe(
      'It changes 3 files. Not kept: docs/a.md (and 1 more): The rule write_file(docs/**) refuses it. Keep the others by naming them in paths.',
    );
  });
});

describe('a person reads', () => {
  test('one sentence about all of it', () => {
    const many = [
      ...['a', 'b', 'c'].map((path) => change(path)),
      change('d', 'deleted'),
      ...Array.from({ length: 12 }, (_, at) => change(`dist/${at}`, 'created', { class: 'new' })),
    ];
    expect(explain(many).reason).toBe('It changes 3 files, deletes 1 and adds 12.');
    expect(explain([change('a', 'mode')]).reason).toBe('It changes 1 file.');
    const tree = change('node_modules', 'deleted', { before: folder, entries: 4_321, class: 'packages' });
    expect(explain([tree]).reason).toBe('It deletes 4,321 files.');
  });

  test('why a protected file or a loss stands out', () => {
    const hook = change('.git/hooks/pre-commit', 'created', { class: 'protected', reason: 'git runs it' });
    expect(explain([change('a'), hook], 'auto').reason).toBe(
      'It changes 1 file and adds 1. .git/hooks/pre-commit: It is protected: git runs it.',
    );
    const lost = change('notes.md', 'deleted', { loses: true, reason: 'its text is in no commit' });
    expect(explain([lost], 'auto').reason).toBe(
      'It deletes 1 file. notes.md: It takes away what nothing else has: its text is in no commit.',
    );
  });

  test('what is wrong when nothing is known, and nothing where nothing changed', () => {
    expect(explain([], 'auto', {}, { changes: undefined as never })).toMatchObject({ verdict: 'deny' });
    expect(explain([], 'ask')).toMatchObject({ verdict: 'allow', reason: 'It changes nothing.' });
  });

  test('deletions and protected files among 100,000 others, and a bounded list', () => {
    const many = Array.from({ length: 100_000 }, (_, at) => change(`dist/${at}`, 'created', { class: 'new' }));
    const gone = change('z/last.ts', 'deleted');
    const hook = change('zz', 'modified', { class: 'protected', reason: 'the host runs it' });
    const { parts, verdict: all } = explain([...many, gone, hook]);
    expect(all).toBe('ask');
    expect(parts.length).toBeLessThan(60);
    expect(parts.map(({ what }) => what)).toEqual(expect.arrayContaining(['deleted z/last.ts', 'modified zz']));
    expect(parts.at(-1)).toMatchObject({ what: '99950 more', verdict: 'allow' });
    const deletions = Array.from({ length: 5_000 }, (_, at) => change(`a/${at}`, 'deleted'));
    const told = explain(deletions).parts;
    expect(told.length).toBe(1_002);
    expect(told.at(-1)).toMatchObject({ what: '4000 more', verdict: 'ask' });
  });
});
