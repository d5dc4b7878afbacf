import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { isExecutable, namesIn, statOf } from '../host/files.ts';
import { fileToHide, findCredentialFiles } from '../secrets/toolchain-secrets.ts';

/** The system as a run sees it, read-only. Everything else of the host is not there. */
export const SYSTEM_FOLDERS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'] as const;

/** Folders of version managers in a home folder. */
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

/** Folders that work only together with others. */
const COMPANIONS: Readonly<Record<string, readonly string[]>> = {
  '.cargo/bin': ['.rustup'],
  '.local/bin': ['.local/share/pipx', '.local/share/uv'],
};

/** The parts that are needed of managers which keep credentials or settings beside their programs. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  '.rye': ['shims', 'self', 'py', 'tools', 'uv', 'pip-tools'],
  '.pixi': ['bin', 'envs'],
  '.local/share/uv': ['python', 'tools'],
};

/** The parts that are shown of the folder around a `bin`. Not all of it: an application may keep secrets there. */
const PARTS = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libexec', 'share', 'include', 'jre', 'pyvenv.cfg'] as const;
const KINDS = [
  { marker: 'lib/modules', parts: ['conf', 'jmods', 'release'] },
  { marker: 'pkg/tool', parts: ['src', 'pkg', 'misc', 'go.env', 'VERSION'] },
  { marker: 'conda-meta', parts: ['conda-meta', 'etc', 'ssl', 'compiler_compat', 'x86_64-conda-linux-gnu'] },
] as const;

export interface Toolchains {
  /** Folders and files of the host to mount read-only so that the programs on the path work. */
  readonly folders: readonly string[];
  /** Files in those folders to mask, as of now: package managers write and remove them at any time. */
  hidden(): string[];
  /** The search path inside: the entries of the host's path that exist there. */
  readonly path: readonly string[];
  /** Where a manager finds its toolchains, since the home inside is another. */
  readonly variables: Readonly<Record<string, string>>;
  /** Entries of the host's path that are left out, for the status. */
  readonly leftOut: readonly string[];
}

/** Each program takes a mount. */
const MAX_PROGRAMS = 50;

/** Finds the folders that the search path leads to. Interpreters often live in the home folder, which is hidden. */
export function findToolchains(given: {
  path: string;
  home: string;
  /** Whether a file of this name is a secret. */
  isSecret(name: string): boolean;
}): Toolchains {
  const folders = new Set<string>();
  const secrets = new Set<string>();
  const path = new Set<string>();
  const leftOut = new Set<string>();
  // The Node that runs Toolwright must be there wherever it lies; programs of a project are left out.
  const onPath = given.path.split(':').filter((entry) => entry.startsWith('/') && !entry.includes('/node_modules/'));
  for (const entry of [...onPath, dirname(process.execPath)]) {
    if (!isReadable(entry)) continue;
    if (isSystem(entry)) path.add(entry);
    else addTools(entry);
  }
  for (const entry of ['/usr/local/bin', '/usr/bin', '/bin']) path.add(entry);
  const credentials = [...folders].flatMap(findCredentialFiles);
  const rustup = [...folders].find((folder) => basename(folder) === '.rustup');
  const variables = rustup === undefined ? {} : { RUSTUP_HOME: rustup };
  return { folders: [...folders], hidden, path: [...path], variables, leftOut: [...leftOut] };

  function hidden(): string[] {
    const files = [...[...secrets].filter((path) => statOf(path)?.isFile()), ...credentials.map(fileToHide)];
    // A path that is not shown cannot be a mount point.
    const isThere = (file: string): boolean => [...folders].some((folder) => isWithin(file, folder));
    return [...new Set(files.filter((file) => file !== null))].filter(isThere);
  }

  function addTools(entry: string): void {
    const roots = rootsOf(entry, given.home) ?? programsIn(entry, given.isSecret);
    if (roots.length > MAX_PROGRAMS) {
      leftOut.add(entry);
      return;
    }
    for (const root of roots) folders.add(root);
    // A symlink on the way does not exist inside.
    const real = realpathSync(entry);
    for (const each of [entry, real]) path.add(each);
    for (const folder of [entry, real].filter((each) => roots.includes(each))) {
      const isOwn = OWN_BINS.some((name) => folder === `${given.home}/${name}`);
      const isHidden = (name: string): boolean => given.isSecret(name) || (isOwn && !isProgram(`${folder}/${name}`));
      for (const name of namesIn(folder).filter((each) => statOf(`${folder}/${each}`)?.isFile() && isHidden(each))) {
        secrets.add(`${folder}/${name}`);
      }
    }
  }
}

/** Folders in which people keep programs of their own, and sometimes notes and settings beside them. */
const OWN_BINS = ['bin', '.local/bin'] as const;

function isProgram(path: string): boolean {
  return isExecutable(path) || /\.so(\.\d+)*$/.test(path);
}

export function isSystem(path: string): boolean {
  return SYSTEM_FOLDERS.some((folder) => isWithin(path, folder));
}

export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);
}

/** The folders that belong to the programs of a folder. Null when it is not known to be a folder of programs. */
function rootsOf(entry: string, home: string): string[] | null {
  const manager = MANAGERS.find((name) => `${entry}/`.includes(`/${name}/`));
  if (manager !== undefined) {
    const above = entry.slice(0, `${entry}/`.indexOf(`/${manager}/`));
    return [manager, ...(COMPANIONS[manager] ?? [])]
      .flatMap((name) => NEEDED[name]?.map((part) => `${name}/${part}`) ?? [name])
      .map((name) => `${above}/${name}`)
      .filter(isReadable);
  }
  if (isWithin(entry, '/nix')) return ['/nix'];
  const real = realpathSync(entry);
  if (basename(real) !== 'bin' && basename(real) !== 'sbin') return null;
  const prefix = dirname(real);
  const homes = [home, isReadable(home) ? realpathSync(home) : home, '/home', '/root', '/Users'];
  const isHome = homes.some((folder) => isWithin(prefix, folder));
  if (isHome || prefix.split('/').length < 3) return [entry];
  const also = KINDS.filter(({ marker }) => existsSync(`${prefix}/${marker}`)).flatMap((kind) => kind.parts);
  return [...new Set([basename(real), ...PARTS, ...also])]
    .map((name) => `${prefix}/${name}`)
    .filter((path) => existsSync(path));
}

/** The programs and libraries in a folder that may contain other files, such as a home folder, one by one. */
function programsIn(folder: string, isSecret: (name: string) => boolean): string[] {
  return namesIn(folder)
    .filter((name) => !isSecret(name))
    .map((name) => `${folder}/${name}`)
    .filter((path) => isExecutable(path) || (/\.so(\.\d+)*$/.test(path) && isFile(path)));
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
