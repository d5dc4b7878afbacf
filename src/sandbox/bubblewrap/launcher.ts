import { closeSync, constants, openSync, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';
import type { Cgroup, CgroupHost } from '../limits/cgroup.ts';
import { isExecutable, namelessFile } from '../files.ts';
import { OWNER } from '../owner.ts';
import type { PipePool } from '../run/pipes.ts';
import { withinHardLimit } from '../request-size.ts';
import { type Launch, type Started, start } from '../run/start.ts';

/**
 * A shell that has entered a control group of its own and waits to become a run. Entering takes the kernel about 15 ms
 * whenever nobody has entered one for a while, so it happens before the run that needs it comes.
 */
export interface Launcher {
  readonly started: Started;
  readonly cgroup: Cgroup | null;
  /** Where bubblewrap reports, and the shell inside it. Closed by whoever ends the run. */
  readonly status: number;
  readonly said: number;
  /** Numbers of descriptors in the child. */
  readonly fds: Readonly<
    Record<'go' | 'options' | 'status' | 'said', number> & Record<'seccomp' | 'channel', number | null>
  >;
  /** What it will become: `script` is what the shell does then, `options` what bubblewrap reads. Throws on a full disk. */
  load(given: { script: string; options: string }): void;
  /** Becomes the run it was loaded with, which waits when it is set up. */
  go(): void;
  /** What was set up may begin. */
  begin(): void;
  /** For one that will not go. */
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
/** A channel comes last, as 9: small shells cannot name more. */
const [SCRIPT, GO, OPTIONS, STATUS, SAID, SECCOMP] = [3, 4, 5, 6, 7, 8];

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
  const { script, options, status, said } = files;
  const all = [...passed, ...(kind === 'plain' ? [] : (['ipc'] as const))];
  const unwanted = inherited.filter((fd) => fd > 2 + all.length);
  const needsBash = unwanted.some((fd) => fd > 9);
  const launch: Launch = {
    // Small shells cannot name a descriptor above 9, and only in POSIX mode bash counts file sizes as they do.
    program: needsBash ? '/bin/bash' : '/bin/sh',
    args: [...(needsBash ? ['--posix'] : []), '-c', waitingScript(cgroup, unwanted, needsBash ? BASH : '/bin/sh')],
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', ...OWNER },
    stdin: 'ignore',
    passed: all,
  };
  const started = orClose(Object.values(files), () => start(launch, pipes));
  const { child } = started;
  // Without descriptors or processes it has no number, and maybe no streams at all, whatever its type says.
  const streams: typeof child.stdio | undefined = child.stdio;
  const signal = streams?.[GO] as (Writable & { ref?(): void; unref?(): void }) | null | undefined;
  signal?.on('error', () => {});
  if (child.pid === undefined) {
    signal?.destroy();
    for (const fd of [...Object.values(files), started.stdout, started.stderr]) closeSync(fd);
    throw new Error('no process could be started');
  }
  // One that only waits must not keep the program alive.
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
    said,
    fds: {
      go: GO,
      options: OPTIONS,
      status: STATUS,
      said: SAID,
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
      closeSync(said);
      closeSync(started.stdout);
      closeSync(started.stderr);
      child.kill('SIGKILL');
      child.ref();
      await started.exit;
      await cgroup?.remove();
    },
  };
}

/** What stays ours, and what the child gets as 3, 4, … */
interface Files {
  readonly script: number;
  readonly options: number;
  readonly status: number;
  readonly said: number;
  readonly passed: readonly (number | 'pipe')[];
}

function openFiles({ folder, pipes, seccomp }: LauncherSettings): Files {
  const open: number[] = [];
  function opened(fd: number): number {
    open.push(fd);
    return fd;
  }
  return orClose(open, () => {
    const script = opened(namelessFile(folder));
    const options = opened(namelessFile(folder));
    const status = opened(namelessFile(folder));
    // A pipe and no file: a run can reach what the shell inside has open, and could fill a disk through it.
    const said = pipes.take();
    open.push(said.readEnd, said.writeEnd);
    const passed = [
      opened(again(script, constants.O_RDONLY)),
      'pipe',
      opened(again(options, constants.O_RDONLY)),
      opened(again(status, constants.O_WRONLY)),
      said.writeEnd,
      ...(seccomp === null ? [] : [openSync(seccomp, 'r')]),
    ] as const;
    return { script, options, status, said: said.readEnd, passed };
  });
}

/** Where descriptors are short, those that were got before must not be lost as well. */
function orClose<T>(open: readonly number[], step: () => T): T {
  try {
    return step();
  } catch (error) {
    for (const fd of open) closeSync(fd);
    throw error;
  }
}

/** Ends by itself when we do: the other end of what it waits on is closed then. */
function waitingScript(cgroup: Cgroup | null, unwanted: readonly number[], shell: string): string {
  const wait = [`read -r go <&${GO} || exit 0`, `. /proc/self/fd/${SCRIPT}`].join('\n');
  return [
    ...(cgroup?.entrances.map((path) => `echo 0 >'${path}' || exit 125`) ?? []),
    ...unwanted.map((fd) => `exec ${fd}>&-`),
    ...(isExecutable(PRLIMIT) ? [`${PRLIMIT} --pid $$ --sigpending=${pendingSignals()} 2>/dev/null || :`] : []),
    cgroup !== null && entersNamespace() ? `exec ${UNSHARE} --cgroup ${shell} -c ${quoted(wait)}` : wait,
  ].join('\n');
}

const UNSHARE = '/usr/bin/unshare';
/** Small shells cannot set this one, and some systems let nobody. */
const PRLIMIT = '/usr/bin/prlimit';

/**
 * Signals that wait, and timers, are counted for all processes of a user, and in a new user namespace for all of them against the
 * limit it was made with: half of ours leaves the other half to the host, whatever all runs do together.
 */
function pendingSignals(): string {
  return withinHardLimit(Number.MAX_SAFE_INTEGER, 'Max pending signals', 1, 0.5);
}

/** Root can enter the cgroup namespace here, where it costs a run nothing; for others bubblewrap does it. */
export function entersNamespace(): boolean {
  return process.getuid?.() === 0 && isExecutable(UNSHARE);
}

/** A word of a shell script. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A second descriptor of the same file, with a position of its own. */
function again(file: number, flags: number): number {
  return openSync(`/proc/self/fd/${file}`, flags);
}

function writeAll(file: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at, bytes.length - at, at);
}

export interface LauncherPool {
  /** One that waits, or a new one; with a channel always a new one. */
  take(kind: 'plain' | 'with-channel'): Launcher;
  /** Makes new ones for those that were taken, when there is nothing better to do. */
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
        // No room or no descriptors just now: the run that needs one makes it, and can say so.
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
