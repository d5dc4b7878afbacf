import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { findConfiguredPaths } from '../../git/configured-paths.ts';
import { identityConfig, userIdentity } from '../../git/identity.ts';
import { isExecutable, readText } from '../../host/files.ts';
import { removeTree } from '../../host/remove-tree.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { Dialer } from '../../kernel/world/dialer.ts';
import { hiddenFiles, unreadableError } from '../../kernel/world/protected-path.ts';
import type { Limits, RunOutput, RunRequest, Sandbox } from '../../kernel/world/sandbox.ts';
import { createHostSandbox, type HostPlan, NO_STAGES } from '../host-sandbox.ts';
import type { IsolationOptions } from '../isolation-options.ts';
import { proxyEnvironment } from '../network/network.ts';
import type { Proxy as RunProxy } from '../network/proxy.ts';
import { maskNotes, waitMessage } from '../protected-paths/mask-notes.ts';
import { createTreeScan } from '../protected-paths/tree-scan.ts';
import type { CheckedRequest } from '../request.ts';
import { withinHardLimit } from '../request-size.ts';
import { findToolchains, type Toolchains } from '../toolchains.ts';
import { seatbeltProfile } from './seatbelt-profile.ts';

/**
 * The sandbox of macOS. The command is an ordinary process of the user that `sandbox-exec` confines to a profile. There are
 * no mounts, so hidden files are denied by path, and no control groups, so limits are per process, with a watchdog.
 */

export interface SeatbeltOptions extends IsolationOptions {
  /** Replaces the system's `sandbox-exec`, for tests on other systems. */
  readonly program?: string;
}

const PROGRAM = '/usr/bin/sandbox-exec';
/** The profile is an argument, and the system accepts about a megabyte of arguments. */
const MAX_PROFILE_LENGTH = 256 * 1024;

export function createSeatbelt(options: SeatbeltOptions): Sandbox {
  const { filePolicy, home } = options;
  const program = options.program ?? PROGRAM;
  const scan = createTreeScan({ ...options, purpose: 'protected' });
  const isSecret = (name: string): boolean => filePolicy.judgeEntry('', name).access === 'hidden';
  const toolchains = findToolchains({ path: options.path, home, isSecret });

  async function plan(request: RunRequest, checked: CheckedRequest, folder: string): Promise<Result<HostPlan>> {
    if (!isExecutable(program)) return notInstalled(program);
    const { workspace, limits } = checked;
    const network = await openDoor(request, options.dialer);
    if (!network.ok) return network;
    const door = network.value;
    const scanned = await scan.find(workspace, (filesLeft) => request.onWait?.(waitMessage(filesLeft)));
    const found = [...scanned, ...(await findConfiguredPaths(workspace, scanned, home))];
    const failed = found.find(({ because }) => because === 'failed');
    if (failed !== undefined) {
      door?.close();
      return unreadableError(workspace, failed);
    }
    await request.onHidden?.(hiddenFiles(found));
    const privateFolder = mkdtempSync(join(folder, 'run-'));
    for (const name of ['tmp', 'home']) mkdirSync(join(privateFolder, name));
    const identity = userIdentity(home, (file) => readText(file) ?? '');
    writeFileSync(join(privateFolder, 'home', '.gitconfig'), identityConfig(identity));
    const profile = seatbeltProfile({
      ...{ workspace, privateFolder, found, mode: request.mounts },
      toolchains: [...toolchains.folders, ...(options.readOnlyFolders ?? [])],
      denied: toolchains.hidden(),
      proxyPort: door?.port ?? null,
    });
    async function settle(output?: RunOutput) {
      door?.close();
      removeTree(privateFolder);
      const notes = output === undefined ? [] : maskNotes(filePolicy, { hidden: found, output });
      return { network: door?.proxy.uses() ?? [], notes };
    }

    if (profile.length > MAX_PROFILE_LENGTH) {
      door?.close();
      removeTree(privateFolder);
      return tooManyFiles(workspace, found.length);
    }
    return ok({
      wrapper: [program, '-p', profile, '/bin/sh', '-c', 'exec "$@"', 'sh'],
      ulimits: ulimitsOf(limits),
      env: environment(request, { ...toolchains, privateFolder, port: door?.port }),
      folder: privateFolder,
      settle,
    });
  }

  const sandbox = createHostSandbox({
    ...{
      kind: 'seatbelt',
      path: toolchains.path.join(':'),
      stateDir: options.stateDir,
      privateFolders: [home],
      plan,
    },
    ...(options.maxRunning !== undefined && { maxRunning: options.maxRunning }),
    processes: 'ps',
    async status() {
      if (!isExecutable(program)) return notInstalled(program);
      const details = {
        isolation: 'a profile for files, network and processes',
        limits: 'of a process for CPU, file size and open files; watchdog for CPU, memory and processes of the tree',
        temporaryFiles: 'private, not sized',
      };
      return ok({ kind: 'seatbelt', isolated: true, details, stages: NO_STAGES });
    },
  });

  return {
    ...sandbox,
    prepare: (workspace) => void scan.find(workspace).catch(() => {}),
    async close() {
      await sandbox.close();
      scan.close();
    },
  };
}

interface ProxyDoor {
  readonly port: number;
  readonly proxy: RunProxy;
  close(): void;
}

/** Starts the proxy. The run has no network of its own: the proxy listens on this machine, and the profile allows nothing else. */
async function openDoor(request: RunRequest, dialer: Dialer | undefined): Promise<Result<ProxyDoor | null>> {
  if (request.network === undefined) return ok(null);
  if (dialer === undefined) {
    return fail('NOT_CONFIGURED', 'This sandbox has no way to the network: run it without, or configure a dialer.');
  }
  const access = dialer.check?.(request.network);
  if (access?.ok === false) return access;
  const { createProxy } = await import('../network/proxy.ts');
  const { tag, network } = request;
  const proxy = createProxy({ dialer, access: network, tag, onUse: request.onNetwork?.bind(request) });
  const server = createServer((socket) => proxy.accept(socket));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return ok({ port: portOf(server), proxy, close: () => closeDoor(server, proxy) });
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function closeDoor(server: Server, proxy: RunProxy): void {
  server.close();
  proxy.close();
}

/** Limits of each process. There is none on their number: macOS counts all processes of a user, so it would hit the user too. */
function ulimitsOf(limits: Limits): string {
  return [
    'ulimit -c 0',
    `ulimit -f ${withinHardLimit(limits.fileBytes, 'Max file size', 512)}`,
    `ulimit -n ${withinHardLimit(limits.openFiles, 'Max open files')}`,
    `ulimit -t ${withinHardLimit(Math.ceil(limits.cpuMs / 1000) + 1, 'Max cpu time')}`,
  ].join(' && ');
}

function environment(
  request: RunRequest,
  given: Pick<Toolchains, 'path' | 'variables'> & { privateFolder: string; port: number | undefined },
): Record<string, string> {
  return {
    PATH: given.path.join(':'),
    HOME: join(given.privateFolder, 'home'),
    TMPDIR: join(given.privateFolder, 'tmp'),
    SHELL: '/bin/bash',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    ...(given.port === undefined ? {} : proxyEnvironment(given.port)),
    ...given.variables,
    ...request.env,
    TOOLWRIGHT_SANDBOX: 'seatbelt',
    TOOLWRIGHT_CALL: request.tag,
  };
}

function notInstalled(program: string): Result<never> {
  const repair = "Set sandbox to 'auto' on Linux, or to 'none' to run commands unprotected.";
  return fail('SANDBOX_UNAVAILABLE', `The seatbelt sandbox needs ${program}, which macOS has. ${repair}`, { repair });
}

function tooManyFiles(workspace: string, count: number): Result<never> {
  return fail(
    'SANDBOX_UNAVAILABLE',
    `${workspace} has ${count} files to hide or protect, which is too many for a profile. Add a rule that hides their folder.`,
  );
}
