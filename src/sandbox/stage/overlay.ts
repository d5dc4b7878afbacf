import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The program that mounts an overlay over the workspace before bubblewrap starts in it: `unshare` (as root), or bubblewrap
 * itself, which may be the only program that a system allows to make user namespaces.
 */
export type OverlayProgram = 'unshare' | 'bubblewrap';

export interface OverlayLayers {
  readonly program: OverlayProgram;
  /** The folder over which it lies: the workspace, or a folder in it. */
  readonly real: string;
  /** The layer of masks, if there is something to hide. */
  readonly mask: string | null;
  /** Content of the stages below, nearest first. */
  readonly below: readonly string[];
  /** Content of a stage that is only looked at, on top of those below. */
  readonly seen?: string;
  /** Where writes go; null for a view that nobody writes to. `work` is an empty folder on the same file system. */
  readonly upper: { readonly content: string; readonly work: string } | null;
}

/** Overlays to mount before bubblewrap starts, in this order. Options and points are relative to `folder`, or absolute. */
export interface OverlayMounts {
  readonly folder: string;
  readonly mounts: readonly { readonly options: string; readonly point: string }[];
  /** Whether the view without the upper layer is mounted at `<folder>/base`; otherwise it is the real folder. */
  readonly hasBase: boolean;
}

export const BASE_VIEW = 'base';

const UNSHARE = '/usr/bin/unshare';
/** Ends the message of a failed mount, so that it is not taken for another failure. */
export const REFUSED = 'toolwright: no overlay can be mounted here';

/** Prepares the overlay over a workspace. */
export function prepareOverlay(folder: string, layers: OverlayLayers): OverlayMounts {
  mkdirSync(folder, { mode: 0o700 });
  const main = { options: optionsOf(folder, '', layers), point: layers.real };
  const hasBase = layers.below.length > 0 && (layers.upper !== null || layers.seen !== undefined);
  if (!hasBase) return { folder, mounts: [main], hasBase };
  mkdirSync(join(folder, BASE_VIEW));
  const { program, real, mask, below } = layers;
  const base = optionsOf(folder, 'base-', { program, real, mask, below, upper: null });
  return { folder, mounts: [{ options: base, point: BASE_VIEW }, main], hasBase };
}

/** Prepares overlays over several folders, each mounted at `<folder>/<its number>`. */
export function prepareOverlays(folder: string, all: readonly OverlayLayers[]): OverlayMounts {
  mkdirSync(folder, { mode: 0o700 });
  const mounts = all.map((layers, i) => {
    mkdirSync(join(folder, `${i}`));
    return { options: optionsOf(folder, `${i}-`, layers), point: `${i}` };
  });
  return { folder, mounts, hasBase: false };
}

/**
 * Layers are symlinks in the folder, and options name only these: no path can inject options, and no path of the host shows
 * in /proc/mounts inside.
 */
function optionsOf(folder: string, prefix: string, layers: OverlayLayers): string {
  const link = (name: string, target: string): string => {
    symlinkSync(target, join(folder, prefix + name));
    return prefix + name;
  };
  const lower = [
    ...(layers.seen === undefined ? [] : [link('seen', layers.seen)]),
    ...layers.below.map((content, i) => link(`below${i}`, content)),
    ...(layers.mask === null ? [] : [link('mask', layers.mask)]),
    link('lower', layers.real),
  ].join(':');
  const common = `index=off,xino=off${isInUserNamespace(layers.program) ? ',userxattr' : ''}`;
  if (layers.upper === null) return `lowerdir=${lower},${common}`;
  const { content, work } = layers.upper;
  // Without `volatile` the end of every run syncs the whole file system.
  return `lowerdir=${lower},upperdir=${link('upper', content)},workdir=${link('work', work)},volatile,${common}`;
}

/** Marks of the overlay, as of a folder that replaces another, are attributes that only root outside such a namespace may set otherwise. */
function isInUserNamespace(program: OverlayProgram): boolean {
  return program === 'bubblewrap' || process.getuid?.() !== 0;
}

const SCRIPT = `cd "$1" && shift || exit 125
while [ "$1" != -- ]; do
  mount -t overlay overlay -o "$1" "$2" || { echo '${REFUSED}' >&2; exit 125; }
  shift 2
done
cd / && shift && exec "$@"`;

/** The words of a command that runs `words` under the overlays. */
export function underOverlays(
  program: { readonly kind: OverlayProgram; readonly bwrap: string },
  { folder, mounts }: OverlayMounts,
  words: readonly string[],
): readonly string[] {
  const pairs = mounts.flatMap(({ options, point }) => [options, point]);
  return [...outerProgram(program), '/bin/sh', '-c', SCRIPT, 'sh', folder, ...pairs, '--', ...words];
}

function outerProgram({ kind, bwrap }: { readonly kind: OverlayProgram; readonly bwrap: string }): readonly string[] {
  const isRoot = process.getuid?.() === 0;
  if (kind === 'unshare') return [UNSHARE, ...(isRoot ? [] : ['--user', '--map-root-user']), '--mount'];
  const user = ['--unshare-user', '--uid', '0', '--gid', '0', '--cap-add', 'ALL'];
  return [bwrap, ...user, '--die-with-parent', '--dev-bind', '/', '/', '--'];
}
