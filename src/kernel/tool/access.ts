/**
 * One thing that a call touches, declared before it runs. Policy judges it, the sandbox enforces it, and the executor
 * orders calls by it. Paths are relative to the workspace root, or absolute inside it.
 */
export type Access =
  | { readonly kind: 'fs.read'; readonly path: string }
  /** `expect` is enforced when the write happens, so that "a new file needs no approval" is not a race. */
  | { readonly kind: 'fs.write'; readonly path: string; readonly expect?: 'absent' | { readonly version: string } }
  /** `movedTo`: nothing is deleted, it stands there afterwards, where nothing was. This is enforced like `expect`. */
  | { readonly kind: 'fs.delete'; readonly path: string; readonly recursive?: boolean; readonly movedTo?: string }
  /**
   * Keeps pending changes of a stage: `digest` is that of the changes that were shown, `paths` are the first of them, `total`
   * counts all. It may change any file.
   */
  | {
      readonly kind: 'fs.apply';
      readonly stage: string;
      readonly digest: string;
      readonly paths: readonly string[];
      readonly total: number;
    }
  | {
      readonly kind: 'process.run';
      readonly command: string;
      /**
       * `stage`: it runs in a stage, and its changes are judged when it has ended. `workspace`: live, which policy grants only
       * where nothing stages. Policy grants the one that the platform has: ask for `stage`, or for `workspace` to run again a
       * command that could not write.
       */
      readonly writes: 'nothing' | 'stage' | 'workspace' | 'background';
      /** The folder it starts in, where that is not the root. */
      readonly cwd?: string;
      /** Arguments of the code. */
      readonly args?: readonly string[];
      /** Variables that the call sets for it. */
      readonly env?: readonly string[];
      /** Those of them that may change what runs, by their name or their value. Left out: none. */
      readonly riskyEnv?: readonly string[];
      /** Set by policy on the granted access: the command may reach the allowed hosts. */
      readonly network?: true;
      /** Set by policy too: the user's rule by which it runs, which also keeps its ordinary changes. */
      readonly allowedBy?: string;
      /** The command is code in this language. Left out: a command line. */
      readonly code?: 'bash' | 'python' | 'javascript';
    }
  | {
      readonly kind: 'net.fetch';
      readonly url: string;
      readonly method: 'GET' | 'POST';
      /** Other hosts that redirects may lead to, as policy grants them. Left out: none but its own. */
      readonly redirects?: HostPatterns;
    }
  | { readonly kind: 'net.search'; readonly query: string }
  /** The tool does not declare it. The call needs approval, never runs twice, and runs alone. */
  | { readonly kind: 'unknown' };

/** `private`: the user's own data. `untrusted`: text that somebody else wrote, which may try to instruct the model. */
export type DataOrigin = 'private' | 'untrusted';

/** `example.org`, `*.example.org`, either with `:port`, or `*` for every host; hosts in `notTo` are excluded. */
export interface HostPatterns {
  readonly to: readonly string[];
  readonly notTo: readonly string[];
}

export const UNKNOWN_ACCESS: readonly Access[] = Object.freeze([{ kind: 'unknown' } as const]);

/**
 * True when the later may not start before the earlier has ended. An empty list touches nothing and conflicts with nothing.
 * A background process blocks no other call, but starts only after changes that were requested before it.
 */
export function conflicts(earlier: readonly Access[], later: readonly Access[]): boolean {
  return earlier.some((x) => later.some((y) => conflict(x, y)));
}

/** Whether it may change files. */
export function mayChange(access: Access): boolean {
  if (access.kind === 'process.run') return access.writes !== 'nothing';
  return access.kind !== 'fs.read' && !isNetwork(access);
}

function conflict(a: Access, b: Access): boolean {
  if (a.kind === 'unknown' || b.kind === 'unknown') return true;
  if (isNetwork(a) || isNetwork(b)) return false;
  if (a.kind === 'process.run' || b.kind === 'process.run') return !isBackground(a) && mayChange(a) && mayChange(b);
  if (a.kind === 'fs.read' && b.kind === 'fs.read') return false;
  return overlaps(pathOf(a), pathOf(b));
}

function isNetwork(access: Access): access is Extract<Access, { kind: `net.${string}` }> {
  return access.kind === 'net.fetch' || access.kind === 'net.search';
}

function isBackground(access: Access): boolean {
  return access.kind === 'process.run' && access.writes === 'background';
}

/** Pending changes may be anywhere in the workspace. */
function pathOf(access: Extract<Access, { kind: `fs.${string}` }>): string {
  return access.kind === 'fs.apply' ? '' : access.path;
}

/** The same path, or one is a folder above the other. */
function overlaps(a: string, b: string): boolean {
  const [x, y] = [segments(a), segments(b)];
  const shorter = Math.min(x.length, y.length);
  for (let i = 0; i < shorter; i++) if (x[i] !== y[i]) return false;
  return true;
}

function segments(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '' && segment !== '.');
}
