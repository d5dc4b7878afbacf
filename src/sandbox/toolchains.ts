import { accessSync, constants, existsSync, realpathSync } from 'node:fs';
import { basename, dirname } from 'node:path';

/** The system as a run sees it, read-only. Everything else of the host is not there. */
export const SYSTEM_FOLDERS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'] as const;

/** What of a home a version manager needs. Whole, unless it also holds credentials. */
const MANAGERS = [
  '.pyenv',
  '.nvm',
  '.fnm',
  '.volta',
  '.nodenv',
  '.rbenv',
  '.goenv',
  '.jenv',
  '.asdf',
  '.sdkman',
  '.rustup',
  '.cargo/bin',
  '.deno/bin',
  '.bun/bin',
  '.rye',
  '.pixi',
  '.local/bin',
  '.local/share/mise',
  '.local/share/fnm',
  '.local/share/uv',
  '.local/share/pipx',
  '.local/share/pnpm',
  '.local/share/rtx',
  'miniconda3',
  'miniforge3',
  'anaconda3',
  'go/bin',
] as const;

/** Some are of no use without another. */
const COMPANIONS: Readonly<Record<string, readonly string[]>> = {
  '.cargo/bin': ['.rustup'],
  '.local/bin': ['.local/share/pipx', '.local/share/uv'],
};

/** Of the folder that a `bin` lies in. Not all of it: what else an application keeps there may be secret. */
const PARTS = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libexec', 'share', 'include', 'jre', 'pyvenv.cfg'] as const;
const KINDS = [
  { marker: 'lib/modules', parts: ['conf', 'jmods', 'release'] },
  { marker: 'pkg/tool', parts: ['src', 'pkg', 'misc', 'go.env', 'VERSION'] },
  { marker: 'conda-meta', parts: ['conda-meta', 'etc', 'ssl', 'compiler_compat', 'x86_64-conda-linux-gnu'] },
] as const;

export interface Toolchains {
  /** Folders and files of the host to mount read-only so that the programs on the path work. */
  readonly folders: readonly string[];
  /** The search path inside: what of the host's leads somewhere there. */
  readonly path: readonly string[];
}

/** Interpreters often live in the home, which is hidden: finds the folders that the search path leads to. */
export function findToolchains(given: { path: string; home: string; workspace?: string }): Toolchains {
  const folders = new Set<string>();
  const path = new Set<string>();
  // Our own Node must be there wherever it lies; other programs of a project are not the system's.
  const onPath = given.path.split(':').filter((entry) => entry.startsWith('/') && !entry.includes('/node_modules/'));
  for (const entry of [...onPath, dirname(process.execPath)]) {
    if (!isReadable(entry)) continue;
    if (isSystem(entry)) path.add(entry);
    else for (const root of rootsOf(entry, given.home)) addTool(root, entry);
  }
  for (const entry of ['/usr/local/bin', '/usr/bin', '/bin']) path.add(entry);
  return { folders: [...folders], path: [...path] };

  function addTool(root: string, entry: string): void {
    folders.add(root);
    path.add(entry);
  }
}

export function isSystem(path: string): boolean {
  return SYSTEM_FOLDERS.some((folder) => isWithin(path, folder));
}

export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);
}

function rootsOf(entry: string, home: string): string[] {
  const manager = MANAGERS.find((name) => `${entry}/`.includes(`/${name}/`));
  if (manager !== undefined) {
    const above = entry.slice(0, `${entry}/`.indexOf(`/${manager}/`));
    return [manager, ...(COMPANIONS[manager] ?? [])].map((name) => `${above}/${name}`).filter(isReadable);
  }
  if (isWithin(entry, '/nix')) return ['/nix'];
  const real = realpathSync(entry);
  const prefix = basename(real) === 'bin' || basename(real) === 'sbin' ? dirname(real) : real;
  const homes = [home, isReadable(home) ? realpathSync(home) : home, '/home', '/root', '/Users'];
  const isHome = homes.some((folder) => isWithin(prefix, folder));
  if (isHome || prefix === real || prefix.split('/').length < 3) return [entry];
  const also = KINDS.filter(({ marker }) => existsSync(`${prefix}/${marker}`)).flatMap((kind) => kind.parts);
  return [...new Set([basename(real), ...PARTS, ...also])]
    .map((name) => `${prefix}/${name}`)
    .filter((path) => existsSync(path));
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
