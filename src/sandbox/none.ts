import { ok } from '../kernel/result.ts';
import type { RunRequest, Sandbox } from '../kernel/world/sandbox.ts';
import { createHostSandbox, NO_STAGES } from './host-sandbox.ts';

/**
 * No isolation at all: the command runs as the user, with the user's files and network. Only for people who chose it
 * explicitly; every result says so. Still in force: the environment, the limits on time, output and processes, and the end
 * of all processes of the run, except one that leaves its session and clears its environment on purpose.
 */

const NOT_ISOLATED =
  'This ran without a sandbox, because the configuration says so: it could read and change every file of the user, and use the network.';

export interface NoneOptions {
  readonly path: string;
  readonly home: string;
  readonly stateDir: string;
  readonly maxRunning?: number;
}

export function createNone(options: NoneOptions): Sandbox {
  return createHostSandbox({
    ...options,
    kind: 'none',
    privateFolders: [],
    async status() {
      const details = {
        isolation: 'none',
        limits: 'watchdog for time, CPU, memory, processes and output',
        ending: 'by a mark in the environment: a process that clears it and leaves its session goes on',
      };
      return ok({ kind: 'none', isolated: false, details, stages: NO_STAGES });
    },
    async plan(request, _checked, folder) {
      const settled = { network: [], notes: [NOT_ISOLATED] };
      const env = environment(options, request);
      return ok({ wrapper: [], ulimits: 'ulimit -c 0', env, folder, settle: async () => settled });
    },
  });
}

function environment(options: NoneOptions, request: RunRequest): Record<string, string> {
  return {
    PATH: options.path,
    HOME: options.home,
    SHELL: '/bin/bash',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    ...request.env,
    TOOLWRIGHT_SANDBOX: 'none',
    TOOLWRIGHT_CALL: request.tag,
  };
}
