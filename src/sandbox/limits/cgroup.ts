import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { errnoOf } from '../../host/errno.ts';
import { namesIn, readText } from '../../host/files.ts';
import { OWN_PROCESS_ID, OWNED_NAME, stateOfProcess } from '../../host/process-identity.ts';
import type { Limits } from '../../kernel/world/sandbox.ts';

/** The control group of one run. Its limits bind every process in it, including root's. */
export interface Cgroup {
  /** A process that writes 0 into each of these files enters the group. */
  readonly entrances: readonly string[];
  limit(limits: Limits): void;
  /** Sets its share of a processor that other processes want as well. */
  share(how: 'least' | 'usual'): void;
  use(): CgroupUse;
  /** Waits until the last process has left; false when one stayed. */
  remove(): Promise<boolean>;
}

export interface CgroupUse {
  readonly cpuMs: number | null;
  readonly peakMemoryBytes: number | null;
  /** Processes the kernel killed because of the memory limit. */
  readonly memoryKills: number;
  /** Times that a new process was refused. */
  readonly refusedProcesses: number;
}

export interface CgroupHost {
  readonly version: 1 | 2;
  create(): Cgroup;
}

/** The kernel's description of control groups: the text of /proc/self/cgroup and /proc/self/mounts. */
export interface CgroupTexts {
  readonly groups: string;
  readonly mounts: string;
}

/** Finds where control groups for memory and processes can be created on this machine; null when nowhere. */
export function findCgroupHost(
  texts: CgroupTexts = { groups: readText('/proc/self/cgroup') ?? '', mounts: readText('/proc/self/mounts') ?? '' },
): CgroupHost | null {
  const own = ownGroups(texts.groups);
  const mounts = cgroupMounts(texts.mounts);
  return version1(own, mounts) ?? version2(own, mounts);
}

/** Creates groups below the group of this process, so that a run never has more than this process. */
function version1(own: ReadonlyMap<string, string>, mounts: readonly CgroupMount[]): CgroupHost | null {
  const place = (controller: string): string | null => {
    const mount = mounts.find(({ type, options }) => type === 'cgroup' && options.includes(controller));
    const path = own.get(controller);
    return mount === undefined || path === undefined ? null : join(mount.path, path);
  };
  const [memory, pids, cpuacct, cpu] = [place('memory'), place('pids'), place('cpuacct'), place('cpu')];
  if (memory === null || pids === null || !canCreate(memory) || !canCreate(pids)) return null;
  const accounting = cpuacct !== null && canCreate(cpuacct) ? cpuacct : null;
  const sharing = cpu !== null && canCreate(cpu) ? cpu : null;
  for (const parent of [memory, pids, accounting, sharing]) if (parent !== null) removeLeftovers(parent);

  return {
    version: 1,
    create() {
      const name = nextName();
      const folders = {
        memory: join(memory, name),
        pids: join(pids, name),
        cpu: accounting === null ? null : join(accounting, name),
        shares: sharing === null ? null : join(sharing, name),
      };
      const all = [...new Set(Object.values(folders).filter((path) => path !== null))];
      for (const folder of all) mkdirSync(folder);
      const limit = (limits: Limits): void => {
        write(`${folders.memory}/memory.limit_in_bytes`, limits.memoryBytes);
        tryWrite(`${folders.memory}/memory.memsw.limit_in_bytes`, limits.memoryBytes);
        write(`${folders.pids}/pids.max`, limits.processes + OUR_PROCESSES);
      };
      const share = (part: number): void => {
        if (folders.shares !== null) tryWrite(`${folders.shares}/cpu.shares`, part * 1024);
      };
      return group(all, limit, share, () => ({
        cpuMs: folders.cpu === null ? null : scaled(readNumber(`${folders.cpu}/cpuacct.usage`), 1e-6),
        peakMemoryBytes: readNumber(`${folders.memory}/memory.max_usage_in_bytes`),
        memoryKills: readField(`${folders.memory}/memory.oom_control`, 'oom_kill'),
        refusedProcesses: readField(`${folders.pids}/pids.events`, 'max'),
      }));
    },
  };
}

/** Creates groups below the nearest group above that delegates its controllers, as systemd does for a user's session. */
function version2(own: ReadonlyMap<string, string>, mounts: readonly CgroupMount[]): CgroupHost | null {
  const mount = mounts.find(({ type }) => type === 'cgroup2');
  const path = own.get('');
  if (mount === undefined || path === undefined) return null;
  for (let at = path; ; at = at.slice(0, at.lastIndexOf('/'))) {
    const parent = join(mount.path, at);
    if (handsDown(parent) && canCreate(parent) && canEnter(parent)) {
      removeLeftovers(parent);
      return { version: 2, create: () => createVersion2(parent) };
    }
    if (at === '' || at === '/') return null;
  }
}

function createVersion2(parent: string): Cgroup {
  const folder = join(parent, nextName());
  mkdirSync(folder);
  const limit = (limits: Limits): void => {
    write(`${folder}/memory.max`, limits.memoryBytes);
    tryWrite(`${folder}/memory.swap.max`, 0);
    tryWrite(`${folder}/memory.oom.group`, 1);
    write(`${folder}/pids.max`, limits.processes + OUR_PROCESSES);
  };
  const share = (part: number): void => tryWrite(`${folder}/cpu.weight`, part * 100);
  return group([folder], limit, share, () => ({
    cpuMs: scaled(readField(`${folder}/cpu.stat`, 'usage_usec'), 1e-3),
    peakMemoryBytes: readNumber(`${folder}/memory.peak`),
    memoryKills: readField(`${folder}/memory.events`, 'oom_kill'),
    refusedProcesses: readField(`${folder}/pids.events`, 'max'),
  }));
}

function group(
  folders: readonly string[],
  limit: (limits: Limits) => void,
  share: (part: number) => void,
  use: () => CgroupUse,
): Cgroup {
  return {
    entrances: folders.map((folder) => `${folder}/cgroup.procs`),
    limit,
    share: (how) => share(how === 'least' ? LEAST_SHARE : 1),
    use,
    async remove() {
      for (let attempt = 0; attempt < 100; attempt++) {
        if (folders.filter((folder) => !tryRemove(folder)).length === 0) return true;
        await new Promise((resolve) => setTimeout(resolve, attempt < 10 ? 1 : 20));
      }
      return false;
    },
  };
}

/**
 * About the share of the lowest priority. Without it, the kernel may give each session an equal share, whatever the priority
 * of its processes, and a run with a hundred sessions would starve this process.
 */
const LEAST_SHARE = 0.02;
/** The group also contains bubblewrap outside and the shell inside. */
const OUR_PROCESSES = 2;
const PREFIX = 'toolwright-';
let counter = 0;

function nextName(): string {
  return `${PREFIX}${OWN_PROCESS_ID}-${++counter}`;
}

/** Removes groups of processes that were killed before they could clean up. A group that is in use cannot be removed. */
function removeLeftovers(parent: string): void {
  for (const name of namesIn(parent)) {
    const owner = name.startsWith(PREFIX) ? OWNED_NAME.exec(name.slice(PREFIX.length))?.[1] : undefined;
    if (owner !== undefined && stateOfProcess(owner) === 'gone') tryRemove(join(parent, name));
  }
}

function handsDown(folder: string): boolean {
  const controllers = (readText(`${folder}/cgroup.subtree_control`) ?? '').trim().split(' ');
  return controllers.includes('memory') && controllers.includes('pids');
}

function canCreate(parent: string): boolean {
  const probe = join(parent, nextName());
  try {
    mkdirSync(probe);
  } catch {
    return false;
  }
  return tryRemove(probe);
}

/** Whether a process can be moved: that needs write permission on the common parent, which an empty write tests. */
function canEnter(parent: string): boolean {
  try {
    writeFileSync(`${parent}/cgroup.procs`, '', { flag: 'r+' });
    return true;
  } catch (error) {
    return errnoOf(error) === 'EINVAL';
  }
}

function ownGroups(text: string): Map<string, string> {
  const groups = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    for (const controller of controllers?.split(',') ?? []) groups.set(controller, path ?? '/');
  }
  return groups;
}

interface CgroupMount {
  readonly path: string;
  readonly type: string;
  readonly options: readonly string[];
}

function cgroupMounts(text: string): CgroupMount[] {
  return text
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, , type]) => type === 'cgroup' || type === 'cgroup2')
    .map(([, path, type, options]) => ({ path: path ?? '', type: type ?? '', options: (options ?? '').split(',') }));
}

function scaled(value: number | null, factor: number): number | null {
  return value === null ? null : value * factor;
}

function readField(path: string, field: string): number {
  const found = new RegExp(`^${field} (\\d+)$`, 'm').exec(readText(path) ?? '')?.[1];
  return Number(found ?? 0);
}

function readNumber(path: string): number | null {
  const text = (readText(path) ?? '').trim();
  return /^\d+$/.test(text) ? Number(text) : null;
}

function write(path: string, value: number): void {
  writeFileSync(path, String(Math.floor(value)));
}

function tryWrite(path: string, value: number): void {
  try {
    write(path, value);
  } catch {
    // The kernel was built without this controller.
  }
}

function tryRemove(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    return errnoOf(error) === 'ENOENT';
  }
}

function join(parent: string, name: string): string {
  return `${parent.replace(/\/+$/, '')}/${name.replace(/^\/+/, '')}`.replace(/\/+$/, '');
}
