import { fail, ok, type Result } from '../kernel/result.ts';
import type { RunResult, Sandbox } from '../kernel/world/sandbox.ts';
import { createBubblewrap } from '../sandbox/bubblewrap/bubblewrap.ts';
import { createNone } from '../sandbox/none.ts';

/**
 * A sandbox like the one of macOS, for tests on Linux: it stages nothing, its read mode refuses writes as bubblewrap does,
 * and its live mode is that of an ordinary process.
 */
export function createReadFirst(options: Parameters<typeof createBubblewrap>[0]): Sandbox {
  const [reading, live] = [createBubblewrap(options), createNone(options)];
  const kind = 'seatbelt';
  const asOurs = (ran: Result<RunResult>): Result<RunResult> =>
    ran.ok ? ok({ ...ran.value, sandbox: kind, notes: [] }) : ran;
  return {
    kind,
    async status() {
      const status = await reading.status();
      return status.ok ? ok({ ...status.value, kind, stages: { kind: 'none', folder: null } }) : status;
    },
    async run(request) {
      if (request.mounts === 'staged') return fail('INVALID_INPUT', 'This sandbox stages nothing.');
      return asOurs(await (request.mounts === 'live' ? live : reading).run(request));
    },
    compare: async () => fail('INVALID_INPUT', 'This sandbox stages nothing.'),
    open: async () => fail('INVALID_INPUT', 'This sandbox stages nothing.'),
    async close() {
      await Promise.all([reading.close(), live.close()]);
    },
  };
}
