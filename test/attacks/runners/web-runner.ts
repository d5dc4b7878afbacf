import { isIP } from 'node:net';
import { type ErrorCode, knownCode } from '../../../src/kernel/error.ts';
import type { ToolResult } from '../../../src/kernel/tool/tool-result.ts';
import { createFilePolicy } from '../../../src/kernel/world/file-policy.ts';
import { createWeb, withWeb } from '../../../src/net/create-web.ts';
import { createPolicy } from '../../../src/policy/create-policy.ts';
import { parseRules } from '../../../src/policy/rules/parse-rules.ts';
import { createToolwright } from '../../../src/runtime/create-toolwright.ts';
import { createStubInternet, type StubInternet } from '../../../src/testing/stub-internet.ts';
import { builtInTools } from '../../../src/tools/index.ts';
import { openWorkspace } from '../../../src/workspace/open-workspace.ts';
import type { Observation, OutcomeName } from '../attack.ts';
import type { Fixture } from '../fixture.ts';
import type { Runner } from '../harness.ts';
import { answersFor } from './web-answers.ts';
import { WEB_TEXTS } from './web-texts.ts';

export interface WebDetail {
  readonly result: ToolResult;
  readonly internet: Pick<StubInternet, 'dialled' | 'lookups' | 'requests'>;
}

/** The web tools through the executor, with policy, over an internet that is all on loopback. */
export const webRunner: Runner = { kind: 'execute', run: fetchOnce, texts: WEB_TEXTS };

/** So that a case that would take for ever is over soon; only what is slow by design meets it. */
const DEADLINE_S = 2;

async function fetchOnce(fixture: Fixture): Promise<Observation> {
  const { attack, workspace } = fixture;
  const { any_of: fine } = attack.expect;
  await using internet = await createStubInternet(answersFor(attack.setup), namesIn(attack.setup));
  const world = await openWorkspace({ root: workspace });
  const port = Number(fixture.values['PORT']);
  const { hosts } = fixture.settings;
  const addresses = hosts.filter((host) => isIP(host) !== 0);
  const web = createWeb({
    dialer: internet.dialer,
    ca: internet.ca,
    privateHosts: addresses.flatMap((address) => [address, `${address}:${port}`]),
    ownPorts: () => [port],
    search: { searxng: { url: 'http://search.test' } },
  });
  const rules = parseRules({ allow: hosts.map((host) => (host === '*' ? 'web_fetch' : `web_fetch(domain:${host})`)) });
  if (!rules.ok) throw new Error(rules.error.message);
  const files = createFilePolicy();
  const toolwright = createToolwright({
    tools: builtInTools,
    world: withWeb(world, web),
    policy: createPolicy({ mode: 'ask', rules: rules.value, files, home: '/nonexistent', urls: web.urls }),
    approver: () => ({ approved: fine.includes('allow') && !fine.includes('deny') && !fine.includes('ask') }),
  });
  const isSlow = attack.class.startsWith('net.slow');
  const args = { ...attack.input, ...(isSlow && { timeout: DEADLINE_S }) };
  const startedAt = performance.now();
  const result = await toolwright.call(attack.tool, args);
  const durationMs = performance.now() - startedAt;
  const { dialled, lookups, requests } = internet;
  const after = attack.expect.assert.includes('alive') ? await toolwright.call('read_file', { path: 'ok.txt' }) : null;
  world.close();
  const detail: WebDetail = { result, internet: { dialled, lookups, requests } };
  const names = requests.map(({ headers }) => String(headers.host));
  return {
    outcomes: outcomesOf(result),
    text: JSON.stringify(result),
    durationMs,
    deadlineMs: DEADLINE_S * 1000,
    dialled: [...dialled.map((each) => each.replace(/:\d+$/, '')), ...names, ...(dialled.length > 0 ? lookups : [])],
    ...(after !== null && { answersAfter: after.ok }),
    detail,
  };
}

/** A question that was answered with no is both: somebody was asked, and it was refused. */
const REFUSALS: Partial<Record<ErrorCode, readonly OutcomeName[]>> = {
  APPROVAL_DENIED: ['ask', 'deny'],
  PERMISSION_DENIED: ['deny', 'error'],
};

function outcomesOf(result: ToolResult): readonly OutcomeName[] {
  return result.ok ? ['allow'] : (REFUSALS[knownCode(result.error.code)] ?? ['error']);
}

/** `cfg: allowlist = ["a.test", "*"] (words)` or `cfg: allowlist a.test`. */
/** `dns: a.test -> 1.2.3.4`, `-> [a, b]`, `-> a on 1st lookup, b afterwards`. */
function namesIn(setup: readonly string[]): Record<string, (lookup: number) => readonly string[]> {
  const entries = setup.flatMap((line) => {
    const [, name, target = ''] = /^dns:\s*(\S+)\s*->\s*(.+)$/.exec(line) ?? [];
    if (name === undefined) return [];
    const addresses = (target.match(/[0-9a-f.:]+/gi) ?? []).filter((each) => isIP(each) !== 0);
    const changes = /lookup|afterwards|then/.test(target);
    return [
      [name, (lookup: number) => (changes ? addresses.slice(lookup > 1 ? 1 : 0).slice(0, 1) : addresses)] as const,
    ];
  });
  return Object.fromEntries(entries);
}
