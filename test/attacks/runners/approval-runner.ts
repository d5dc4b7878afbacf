import { TestServer } from '../../server/test-server.ts';
import type { Observation } from '../attack.ts';
import { ASK_ABOUT_CHANGES } from '../case-settings.ts';
import type { Fixture } from '../fixture.ts';
import type { Runner } from '../harness.ts';
import { ALWAYS_FLOWS } from './always-flows.ts';
import { FLOWS, type FlowEnd } from './approval-flows.ts';

/** Flows of several requests around one question, each against a server of its own. */
export const approvalRunner: Runner = {
  kind: 'execute',
  async run(fixture) {
    const flow = FLOWS[fixture.attack.class] ?? ALWAYS_FLOWS[fixture.attack.class];
    if (flow === undefined) return undefined;
    const env = { PATH: process.env.PATH ?? '', TOOLWRIGHT_ASK: ASK_ABOUT_CHANGES };
    const { workspace, values } = fixture;
    await using server = await TestServer.start({ workspaces: [workspace], env, home: values.HOME ?? '' });
    const startedAt = performance.now();
    const end = await flow(server, fixture);
    if (end === undefined) return undefined;
    const durationMs = performance.now() - startedAt;
    const answersAfter = (await server.get('/v1/health')).status === 200;
    const text = JSON.stringify(end);
    return { outcomes: [end.outcome], text, durationMs, answersAfter, detail: end } satisfies Observation;
  },
  texts: { apr: checkFlow, control: checkFlow },
};

function checkFlow({ attack }: Fixture, { detail }: Observation): string | null {
  const { statuses = [], wrong = null } = detail as FlowEnd;
  for (const wanted of attack.expect.assert.filter((each) => each.startsWith('status:'))) {
    const allowed = wanted.slice('status:'.length).split('|').map(Number);
    const other = statuses.find((status) => !allowed.includes(status));
    if (other !== undefined || statuses.length === 0) return `status ${other ?? 'unknown'}`;
  }
  return wrong;
}
