import { execFileSync } from 'node:child_process';
import { tryKill } from '../../host/try-kill.ts';
import type { RunEnd } from '../../kernel/world/sandbox.ts';
import type { MeasuredTree } from './supervise.ts';

/** One process in the output of `ps`. `began` distinguishes it from an earlier process with the same pid. */
export interface PsRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly memoryBytes: number;
  readonly isDead: boolean;
  readonly cpuMs: number;
  readonly began: string;
  /** Its environment, as far as the system shows it, contains the mark of the run. */
  readonly isMarked: boolean;
}

const COLUMNS = 'pid=,ppid=,pgid=,rss=,stat=,time=,lstart=,command=';
/** With the environment behind the command, and lines of any length. */
const EVERYTHING = process.platform === 'linux' ? 'axeww' : '-AEww';
/** Each look starts a program. */
const PAUSE_MS = 250;

/**
 * The process tree where there is no /proc. A process belongs to the run when its parent or its group does, or when it has
 * the mark; once seen it stays part of the run, whatever happens to its parent. macOS does not show the environment of its
 * own programs: one of those that forks twice and leaves its group between two looks is not found.
 */
export function psTree(
  root: number,
  mark: string,
  list: (mark: string) => readonly PsRow[] = listProcesses,
): MeasuredTree {
  const known = new Map<number, PsRow>();
  let [pastCpuMs, peakMemoryBytes, looks] = [0, 0, 0];
  let rootBegan: string | undefined;

  function look(): PsRow[] {
    const rows = new Map(list(mark).map((row) => [row.pid, row]));
    looks++;
    rootBegan ??= rows.get(root)?.began ?? '';
    // Otherwise its pid was reused, and its group has ended.
    const roots = [undefined, rootBegan].includes(rows.get(root)?.began) ? [root] : [];
    for (const [pid, before] of known) {
      if (rows.get(pid)?.began === before.began) continue;
      pastCpuMs += before.cpuMs;
      known.delete(pid);
    }
    for (let grown = true; grown; ) {
      grown = false;
      const groups = new Set([...roots, ...[...known.values()].map(({ group }) => group)]);
      for (const row of rows.values()) {
        const isOurs = row.isMarked || roots.includes(row.pid) || known.has(row.parent) || groups.has(row.group);
        if (known.has(row.pid) || !isOurs) continue;
        known.set(row.pid, row);
        grown = true;
      }
    }
    for (const pid of known.keys()) known.set(pid, rows.get(pid) as PsRow);
    return [...known.values()].filter(({ isDead }) => !isDead);
  }

  function cpuMs(): number {
    return [...known.values()].reduce((sum, row) => sum + row.cpuMs, pastCpuMs);
  }

  /** Lists the processes; where `ps` cannot be started, as beside a fork bomb, those that were seen before. */
  function lookOrRemember(): PsRow[] {
    try {
      return look();
    } catch {
      return [...known.values()];
    }
  }

  function send(signal: NodeJS.Signals): void {
    const members = lookOrRemember();
    for (const { pid } of members) tryKill(pid, signal);
    // Only groups led by a process of the run: others may contain processes of the user.
    for (const { pid, group } of members) if (pid === group) tryKill(-group, signal);
  }

  return {
    pauseMs: PAUSE_MS,
    check(limits): RunEnd | null {
      const members = look();
      const memoryBytes = members.reduce((sum, row) => sum + row.memoryBytes, 0);
      peakMemoryBytes = Math.max(peakMemoryBytes, memoryBytes);
      if (members.length > limits.processes) return 'processes';
      if (cpuMs() > limits.cpuMs) return 'cpu';
      return memoryBytes > limits.memoryBytes ? 'memory' : null;
    },
    used: () => (looks === 0 ? null : { cpuMs: cpuMs(), peakMemoryBytes }),
    signal: send,
    kill: () => send('SIGKILL'),
    isGone: () => lookOrRemember().length === 0,
  };
}

/** Every process that has the variable, as far as the system shows it, and its value. */
export function psByVariable(name: string): [pid: number, value: string][] {
  const pattern = new RegExp(`^ *(\\d+) .* ${name}=(\\S*)`);
  return ps('pid=,command=')
    .split('\n')
    .flatMap((line): [number, string][] => {
      const [, pid, value = ''] = pattern.exec(line) ?? [];
      return pid === undefined ? [] : [[Number(pid), value]];
    });
}

function listProcesses(mark: string): PsRow[] {
  return parsePs(ps(COLUMNS), mark);
}

function ps(columns: string): string {
  const options = {
    encoding: 'latin1',
    // A fixed time zone, so that start times do not change with the zone of the machine.
    env: { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' },
    maxBuffer: 64 * 1024 * 1024,
  } as const;
  return execFileSync('/bin/ps', [EVERYTHING, '-o', columns], options);
}

export function parsePs(text: string, mark: string): PsRow[] {
  return text.split('\n').flatMap((line): PsRow[] => {
    const [pid, parent, group, kilobytes, state = '', time = '', ...rest] = line.trim().split(/\s+/);
    if (!Number(pid)) return [];
    return [
      {
        pid: Number(pid),
        parent: Number(parent),
        group: Number(group),
        memoryBytes: 1024 * Number(kilobytes),
        isDead: state.startsWith('Z'),
        cpuMs: milliseconds(time),
        began: rest.slice(0, 5).join(' '),
        isMarked: rest.slice(5).includes(mark),
      },
    ];
  });
}

/** `1-02:03:04`, `02:03:04` or, with hundredths and no hours, `123:04.56`. */
function milliseconds(time: string): number {
  const [days, clock] = time.includes('-') ? time.split('-') : ['0', time];
  const seconds = (clock ?? '').split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return 1000 * (Number(days) * 86_400 + seconds);
}
