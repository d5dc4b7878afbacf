import { TestServer } from '../../server/test-server.ts';
import type { Observation } from '../attack.ts';
import type { Fixture } from '../fixture.ts';

/** Code in the sandbox reaches for the question that waits beside it, and for the token that could answer it. */
export async function selfApprove(fixture: Fixture): Promise<Observation> {
  const home = fixture.values['HOME'] ?? '';
  await using server = await TestServer.start({ workspaces: [fixture.workspace], home });
  const { approval } = await server.ask({ path: 'ok.txt', content: 'x' });
  const { language, code } = fixture.attack.input as { language: string; code: string };
  const real = code.replace(/:\d+(\/v1\/approvals\/)[^/]+/, `:${server.running.port}$1${approval.id}`);
  if (!real.includes(`${server.running.port}/v1/approvals/${approval.id}`)) throw new Error(`no address in ${code}`);
  const startedAt = performance.now();
  const { body: tried } = await server.post('/v1/calls', {
    tool: 'run_code',
    args: { language, code: real },
    wait: false,
  });
  const ended = await server.ended(tried.id);
  const still = (await server.pending()).some(({ id }) => id === approval.id);
  const answer = JSON.stringify(ended);
  const leaked = answer.includes(server.tokens.own) ? 'the token was printed' : null;
  return {
    outcomes: ['sandboxed'],
    text: answer,
    durationMs: performance.now() - startedAt,
    detail: { text: leaked ?? (still ? null : 'the request is no longer pending') },
  };
}
