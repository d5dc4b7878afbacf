import { describe, expect, test } from 'vitest';
import { ExecutionContext } from '../kernel/call/execution-context.ts';
import { NO_FLOW, type SessionFlow } from '../kernel/call/session-flow.ts';
import type { Subject } from '../kernel/ports.ts';
import type { Access } from '../kernel/tool/access.ts';
import { createFilePolicy } from '../kernel/world/file-policy.ts';
import { createPolicy } from './create-policy.ts';
import type { Mode } from './mode.ts';
import type { PolicyOptions } from './policy-options.ts';
import { parseRules, type RuleSet } from './rules/parse-rules.ts';

const context = new ExecutionContext({ workingDir: '/home/ana/project' });
const BOTH: SessionFlow = { private: ['src/a.ts (read_file)'], untrusted: ['https://x.test/ (web_fetch)'], agreed: [] };

interface FlowCase extends Partial<Subject> {
  readonly mode?: Mode;
  readonly rules?: RuleSet;
  readonly options?: Partial<PolicyOptions>;
}

function explain(access: Access[], { mode = 'auto', rules = {}, options, ...more }: FlowCase = {}) {
  const parsed = parseRules(rules);
  if (!parsed.ok) throw new Error(parsed.error.message);
  const policy = createPolicy({ mode, rules: parsed.value, files: createFilePolicy(), home: '/home/ana', ...options });
  const about = { args: {}, effect: 'once', ownReason: undefined, asksAlways: false } as const;
  return policy.explain({ tool: 't', access, context, flow: BOTH, ...about, ...more });
}

const run = (command: string): Access[] => [{ kind: 'process.run', command, writes: 'stage' }];
const fetch = (method: 'GET' | 'POST', url = 'https://example.org/a'): Access[] => [{ kind: 'net.fetch', url, method }];
const UNKNOWN: Access[] = [{ kind: 'unknown' }];

const SENDING: [string, Access[], RuleSet][] = [
  ['a command that uses the network', run('npm install'), { allow: ['t(npm install)'] }],
  ['git push', run('git push'), { allow: ['t'] }],
  ['a POST to an allowed host', fetch('POST'), { allow: ['t(POST domain:example.org)'] }],
  ['a page, where a rule allows every host', fetch('GET'), { allow: ['t'] }],
  ['a tool of unknown access', UNKNOWN, { allow: ['t'] }],
];

describe('sending out of a session with private data and untrusted text', () => {
  test.each(SENDING)('%s is asked about whatever the rules, and refused in strict', (_what, access, rules) => {
    for (const mode of ['ask', 'auto'] as const) {
      expect(explain(access, { mode, rules, flow: NO_FLOW }).verdict).toBe('allow');
      expect(explain(access, { mode, rules }).verdict).toBe('ask');
      expect(explain(access, { mode, rules, options: { dataFlow: 'off' } }).verdict).toBe('allow');
    }
    expect(explain(access, { mode: 'strict', rules, flow: NO_FLOW }).verdict).toBe('allow');
    expect(explain(access, { mode: 'strict', rules })).toMatchObject({ verdict: 'deny', byMode: true });
  });

  test('the question names where it would go and the two sources', () => {
    const { reason, rule } = explain(fetch('POST'), { rules: { allow: ['t(POST domain:example.org)'] } });
    expect(rule).toBe('data flow');
    expect(reason).toBe(
      'It would send to example.org; the session has read src/a.ts (read_file) and got text from https://x.test/ (web_fetch).',
    );
  });

  test('what is asked about anyway is one question with both reasons', () => {
    const { reason, rule, parts } = explain(run('npm install'), { mode: 'ask' });
    expect(rule).toBe('network');
    expect(reason).toMatch(/^npm install uses the network\. It would send to the network; the session has read /);
    expect(parts.filter(({ verdict }) => verdict === 'ask')).toHaveLength(2);
  });

  test('one of the two alone asks nothing', () => {
    for (const flow of [{ ...BOTH, untrusted: [] }, NO_FLOW])
      expect(explain(run('npm install'), { flow }).verdict).toBe('allow');
    expect(explain(UNKNOWN, { rules: { allow: ['t'] }, flow: { ...BOTH, private: [] } }).verdict).toBe('allow');
  });

  test('a command that sends reads the workspace itself', () => {
    const { verdict, reason } = explain(run('npm install'), { flow: { ...BOTH, private: [] } });
    expect([verdict, reason]).toEqual(['ask', expect.stringContaining('the workspace (this command)')]);
  });

  test.each<[string, Access[]]>([
    ['reading a file', [{ kind: 'fs.read', path: 'a.ts' }]],
    ['a new file', [{ kind: 'fs.write', path: 'a.ts', expect: 'absent' }]],
    ['a search of the web', [{ kind: 'net.search', query: 'x' }]],
    ['a command without network', run('npm test && git status')],
    ['a program', [{ kind: 'process.run', command: 'print(1)', writes: 'stage', code: 'python' }]],
  ])('%s is not asked about', (_what, access) => {
    for (const mode of ['ask', 'auto'] as const) expect(explain(access, { mode }).verdict).toBe('allow');
  });

  test('a page of a host that a rule names is not asked about', () => {
    expect(explain(fetch('GET'), { rules: { allow: ['t(domain:*.org)', 't(domain:example.org)'] } }).verdict).toBe(
      'allow',
    );
  });
});

describe('the network of a command that does not need it', () => {
  const networkOf = (given: FlowCase) => explain(run('npm test'), given).access?.[0];

  test('is withheld once the session has both, and not before', () => {
    for (const rules of [{}, { allow: ['t(npm test)'] }]) {
      expect(networkOf({ rules, flow: NO_FLOW })).toMatchObject({ network: true });
      expect(networkOf({ rules })).not.toHaveProperty('network');
      expect(networkOf({ rules, options: { dataFlow: 'off' } })).toMatchObject({ network: true });
    }
  });

  test('a rule that allows the command still keeps its changes', () => {
    for (const command of ['npm test', 'npm ci']) {
      const { access } = explain(run(command), { rules: { allow: [`t(${command})`] } });
      expect(access).toMatchObject([{ allowedBy: `t(${command})` }]);
    }
  });

  test('a question about anything else, whose yes gives the network, has the reason too', () => {
    const background: Access[] = [{ kind: 'process.run', command: 'npm run dev', writes: 'background' }];
    expect(explain(background, { mode: 'ask' })).toMatchObject({
      rule: 'background',
      reason: expect.stringContaining('It would send to the network'),
    });
  });
});

describe('a person who agreed', () => {
  const rules = { allow: ['t'] };
  const agreedTo = (what: string) => ({ rules, flow: { ...BOTH, agreed: [what] } });

  test('to a host is not asked about it again in this session', () => {
    expect(explain(fetch('GET'), agreedTo('send to example.org')).verdict).toBe('allow');
    expect(explain(fetch('GET', 'https://example.com/'), agreedTo('send to example.org')).verdict).toBe('ask');
    expect(explain(fetch('GET'), agreedTo('post to example.org')).verdict).toBe('allow');
  });

  test('to pages of a host is asked about a POST to it', () => {
    expect(explain(fetch('POST'), agreedTo('send to example.org')).verdict).toBe('ask');
    expect(explain(fetch('POST'), agreedTo('post to example.org')).verdict).toBe('allow');
  });

  test('to a tool is not asked about that tool', () => {
    expect(explain(UNKNOWN, agreedTo('send with t')).verdict).toBe('allow');
    expect(explain(UNKNOWN, agreedTo('send with u')).verdict).toBe('ask');
  });

  test('to a command is asked about the next one', () => {
    expect(explain(run('git push'), agreedTo('send over the network')).verdict).toBe('ask');
  });
});

describe('what a tool says of itself', () => {
  test('a tool of unknown access that sends nothing is not asked about', () => {
    expect(explain(UNKNOWN, { rules: { allow: ['t'] }, sends: false }).verdict).toBe('allow');
  });

  test('a tool that sends is asked about although its access says nothing', () => {
    expect(explain([], { sends: true }).verdict).toBe('ask');
  });
});
