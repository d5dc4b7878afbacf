import { closeSync, constants, openSync, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { createUnlinkedFile, isExecutable } from '../../host/files.ts';
import { quoteForShell } from '../../kernel/text/escape.ts';
import type { Cgroup, CgroupHost } from '../limits/cgroup.ts';
import { OWNER_ENV } from '../orphans.ts';
import { withinHardLimit } from '../request-size.ts';
import type { PipePool } from '../run/pipes.ts';
import { type ProcessLaunch, type StartedProcess, startProcess } from '../run/start.ts';

/**
 * A shell that has entered its own control group and waits to become a run. Entering takes the kernel about 15 ms when no
 * process has entered a group for a while, so it happens before the run that needs it.
 */
export interface Launcher {
  readonly started: StartedProcess;
  readonly cgroup: Cgroup | null;
  /** The file in which bubblewrap reports, and the pipe of the shell inside. The code that ends the run closes both. */
  readonly status: number;
  readonly report: number;
  /** Numbers of file descriptors in the child. */
  readonly fds: Readonly<
    Record<'go' | 'options' | 'status' | 'report', number> & Record<'seccomp' | 'channel', number | null>
  >;
  /** Loads the run: `script` is for the shell, `options` for bubblewrap. Throws on a full disk. */
  load(given: { script: string; options: string }): void;
  /** Sets up the loaded run, which then waits for `begin`. */
  go(): void;
  /** Lets the run begin that was set up. */
  begin(): void;
  /** Ends a launcher that will not be used. */
  discard(): Promise<unknown>;
  isAlive(): boolean;
}

export interface LauncherSettings {
  readonly folder: string;
  readonly pipes: PipePool;
  readonly cgroups: CgroupHost | null;
  readonly seccomp: string | null;
  readonly inherited: readonly number[];
}

const BASH = '/bin/bash --posix';
/** A channel comes last, as 9: small shells accept no higher number. */
const [SCRIPT, GO, OPTIONS, STATUS, REPORT, SECCOMP] = [3, 4, 5, 6, 7, 8];

function createLauncher(settings: LauncherSettings, kind: 'plain' | 'with-channel' = 'plain'): Launcher {
  const cgroup = settings.cgroups?.create() ?? null;
  try {
    return withGroup(settings, kind, cgroup);
  } catch (error) {
    void cgroup?.remove();
    throw error;
  }
}

function withGroup(settings: LauncherSettings, kind: 'plain' | 'with-channel', cgroup: Cgroup | null): Launcher {
  const { pipes, inherited } = settings;
  const { passed, ...files } = openFiles(settings);
  const { script, options, status, report } = files;
  const all = [...passed, ...(kind === 'plain' ? [] : (['ipc'] as const))];
  const unwanted = inherited.filter((fd) => fd > 2 + all.length);
  const needsBash = unwanted.some((fd) => fd > 9);
  const launch: ProcessLaunch = {
    // Small shells accept no descriptor above 9, and only in POSIX mode bash counts file sizes as they do.
    program: needsBash ? '/bin/bash' : '/bin/sh',
    args: [...(needsBash ? ['--posix'] : []), '-c', waitingScript(cgroup, unwanted, needsBash ? BASH : '/bin/sh')],
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', ...OWNER_ENV },
    stdin: 'ignore',
    passed: all,
  };
  const started = orClose(Object.values(files), () => startProcess(launch, pipes));
  const { child } = started;
  // When file descriptors or processes are short, the child has no pid, and perhaps no streams, whatever its type says.
  const streams: typeof child.stdio | undefined = child.stdio;
  const signal = streams?.[GO] as (Writable & { ref?(): void; unref?(): void }) | null | undefined;
  signal?.on('error', () => {});
  if (child.pid === undefined) {
    signal?.destroy();
    for (const fd of [...Object.values(files), started.stdout, started.stderr]) closeSync(fd);
    throw new Error('no process could be started');
  }
  // A waiting launcher must not keep the program alive.
  child.unref();
  signal?.unref?.();
  let alive = true;
  void started.exit.then(() => {
    alive = false;
  });

  function closeFiles(): void {
    closeSync(script);
    closeSync(options);
  }

  return {
    started,
    cgroup,
    status,
    report,
    fds: {
      go: GO,
      options: OPTIONS,
      status: STATUS,
      report: REPORT,
      seccomp: settings.seccomp === null ? null : SECCOMP,
      channel: kind === 'plain' ? null : 2 + all.length,
    },
    isAlive: () => alive,
    load(given) {
      writeAll(script, given.script);
      writeAll(options, given.options);
    },
    go() {
      child.ref();
      closeFiles();
      signal?.write('\n');
    },
    begin() {
      signal?.end('\n');
    },
    async discard() {
      signal?.destroy();
      closeFiles();
      closeSync(status);
      closeSync(report);
      closeSync(started.stdout);
      closeSync(started.stderr);
      child.kill('SIGKILL');
      child.ref();
      await started.exit;
      await cgroup?.remove();
    },
  };
}

/** Descriptors of this process, and those that the child gets as 3, 4, … */
interface Files {
  readonly script: number;
  readonly options: number;
  readonly status: number;
  readonly report: number;
  readonly passed: readonly (number | 'pipe')[];
}

function openFiles({ folder, pipes, seccomp }: LauncherSettings): Files {
  const open: number[] = [];
  function opened(fd: number): number {
    open.push(fd);
    return fd;
  }
  return orClose(open, () => {
    const script = opened(createUnlinkedFile(folder));
    const options = opened(createUnlinkedFile(folder));
    const status = opened(createUnlinkedFile(folder));
    // A pipe, not a file: a run can reach the open files of the shell inside, and could fill a disk through one.
    const report = pipes.take();
    open.push(report.readEnd, report.writeEnd);
    const passed = [
      opened(again(script, constants.O_RDONLY)),
      'pipe',
      opened(again(options, constants.O_RDONLY)),
      opened(again(status, constants.O_WRONLY)),
      report.writeEnd,
      ...(seccomp === null ? [] : [openSync(seccomp, 'r')]),
    ] as const;
    return { script, options, status, report: report.readEnd, passed };
  });
}

/** Closes the descriptors opened so far when the next step fails. */
function orClose<T>(open: readonly number[], step: () => T): T {
  try {
    return step();
  } catch (error) {
    for (const fd of open) closeSync(fd);
    throw error;
  }
}

/** The script of a waiting launcher. It ends when this process does, since the pipe that it reads is closed then. */
function waitingScript(cgroup: Cgroup | null, unwanted: readonly number[], shell: string): string {
  const wait = [`read -r go <&${GO} || exit 0`, `. /proc/self/fd/${SCRIPT}`].join('\n');
  return [
    ...(cgroup?.entrances.map((path) => `echo 0 >'${path}' || exit 125`) ?? []),
    ...unwanted.map((fd) => `exec ${fd}>&-`),
    ...(isExecutable(PRLIMIT) ? [`${PRLIMIT} --pid $$ --sigpending=${pendingSignals()} 2>/dev/null || :`] : []),
    cgroup !== null && entersNamespace() ? `exec ${UNSHARE} --cgroup ${shell} -c ${quoteForShell(wait)}` : wait,
  ].join('\n');
}

const UNSHARE = '/usr/bin/unshare';
/** Sets a limit that small shells cannot set; some systems forbid it. */
const PRLIMIT = '/usr/bin/prlimit';

/**
 * The kernel counts pending signals and timers for all processes of a user, and in a new user namespace against the limit
 * with which it was made: half of this process's limit leaves the other half to the host, whatever all runs do together.
 */
function pendingSignals(): string {
  return withinHardLimit(Number.MAX_SAFE_INTEGER, 'Max pending signals', 1, 0.5);
}

/** Whether the launcher enters the cgroup namespace, which saves each run time. Only root can; for other users bubblewrap does it. */
export function entersNamespace(): boolean {
  return process.getuid?.() === 0 && isExecutable(UNSHARE);
}

/** Opens a file descriptor again, with a position of its own. */
function again(file: number, flags: number): number {
  return openSync(`/proc/self/fd/${file}`, flags);
}

function writeAll(file: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at, bytes.length - at, at);
}

export interface LauncherPool {
  /** Returns a waiting launcher, or a new one; with a channel always a new one. */
  take(kind: 'plain' | 'with-channel'): Launcher;
  /** Replaces launchers that were taken, when the process is idle. */
  refill(): void;
  close(): Promise<void>;
}

export function createLauncherPool(settings: LauncherSettings, size: number): LauncherPool {
  const ready: Launcher[] = [];
  const discarded = new Set<Promise<unknown>>();
  let closed = false;
  let refilling: NodeJS.Immediate | null = null;

  function discard(launcher: Launcher): void {
    const promise = launcher.discard();
    discarded.add(promise);
    void promise.finally(() => discarded.delete(promise));
  }

  function refill(): void {
    if (closed || refilling !== null || ready.length >= size) return;
    refilling = setImmediate(() => {
      refilling = null;
      if (closed) return;
      try {
        ready.push(createLauncher(settings));
      } catch {
        // No disk space or descriptors just now: the next run creates its own launcher, and reports the error.
        return;
      }
      refill();
    });
    refilling.unref();
  }

  return {
    refill,
    take(kind) {
      if (kind === 'with-channel') return createLauncher(settings, kind);
      for (let launcher = ready.shift(); launcher !== undefined; launcher = ready.shift()) {
        if (launcher.isAlive()) return launcher;
        discard(launcher);
      }
      return createLauncher(settings);
    },
    async close() {
      closed = true;
      if (refilling !== null) clearImmediate(refilling);
      for (const launcher of ready.splice(0)) discard(launcher);
      await Promise.allSettled([...discarded]);
    },
  };
}
