import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The program that mounts an overlay over the workspace before bubblewrap starts in it: `unshare` (as root), or bubblewrap
 * itself, which may be the only program that a system allows to make user namespaces.
 */
export type OverlayProgram = 'unshare' | 'bubblewrap';

export interface OverlayLayers {
  readonly workspace: string;
  /** The layer of masks, if there is something to hide. */
  readonly mask: string | null;
  /** Content of the stages below, nearest first. */
  readonly below: readonly string[];
  /** Content of a stage that is only looked at, on top of those below. */
  readonly seen?: string;
  /** Where writes go; null for a view that nobody writes to. `work` is an empty folder on the same file system. */
  readonly upper: { readonly content: string; readonly work: string } | null;
  /** Whether folders of the real workspace lie on top. */
  readonly live: readonly string[];
}

/** Mounts to make before bubblewrap starts. Options are relative to `folder`. */
export interface OverlayMount {
  readonly folder: string;
  readonly point: string;
  readonly options: string;
  /** Options of a second overlay at `<folder>/base`: the view without the upper layer. Null when it is the workspace. */
  readonly baseOptions: string | null;
  /** Whether the real workspace is mounted at `<folder>/real`, so that folders of it can lie on top. */
  readonly withReal: 'with-real' | 'without';
}

/** The real workspace in the mount namespace outside bubblewrap, as a folder of `OverlayMount.folder`. */
export const REAL_WORKSPACE = 'real';
export const BASE_VIEW = 'base';

const UNSHARE = '/usr/bin/unshare';
/** Ends the message of a failed mount, so that it is not taken for another failure. */
export const REFUSED = 'toolwright: no overlay can be mounted here';

/**
 * Prepares the folder from which an overlay is mounted. Layers are symlinks in it, and options name only these: no path
 * can inject options, and no path of the host shows in /proc/mounts inside.
 */
export function prepareOverlay(folder: string, layers: OverlayLayers): OverlayMount {
  mkdirSync(folder, { mode: 0o700 });
  for (const name of [REAL_WORKSPACE, BASE_VIEW]) mkdirSync(join(folder, name));
  const link = (name: string, target: string): string => {
    symlinkSync(target, join(folder, name));
    return name;
  };
  const lower = [
    ...layers.below.map((content, i) => link(`below${i}`, content)),
    ...(layers.mask === null ? [] : [link('mask', layers.mask)]),
    link('lower', layers.workspace),
  ].join(':');
  const common = `index=off,xino=off${process.getuid?.() === 0 ? '' : ',userxattr'}`;
  const base = `lowerdir=${lower},${common}`;
  const { upper, workspace: point } = layers;
  const withReal = layers.live.length === 0 ? 'without' : 'with-real';
  const baseOptions = layers.below.length === 0 ? null : base;
  if (layers.seen !== undefined) {
    const options = `lowerdir=${link('seen', layers.seen)}:${lower},${common}`;
    return { folder, point, options, baseOptions, withReal };
  }
  if (upper === null) return { folder, point, options: base, baseOptions: null, withReal };
  link('upper', upper.content);
  link('work', upper.work);
  return {
    folder,
    point,
    // Without `volatile` the end of every run syncs the whole file system.
    options: `lowerdir=${lower},upperdir=upper,workdir=work,volatile,${common}`,
    baseOptions,
    withReal,
  };
}

const SCRIPT = `cd "$1" && { [ "$5" = without ] || mount --rbind "$2" ${REAL_WORKSPACE}; } && {
  [ -z "$4" ] || mount -t overlay overlay -o "$4" ${BASE_VIEW}
} && mount -t overlay overlay -o "$3" "$2" || { echo '${REFUSED}' >&2; exit 125; }
cd / && shift 5 && exec "$@"`;

/** The words of a command that runs `words` under the overlay. */
export function underOverlay(
  program: { readonly kind: OverlayProgram; readonly bwrap: string },
  mount: OverlayMount,
  words: readonly string[],
): readonly string[] {
  const { folder, point, options, baseOptions, withReal } = mount;
  return [
    ...outerProgram(program),
    ...['/bin/sh', '-c', SCRIPT, 'sh', folder, point, options, baseOptions ?? '', withReal],
    ...words,
  ];
}

function outerProgram({ kind, bwrap }: { readonly kind: OverlayProgram; readonly bwrap: string }): readonly string[] {
  const isRoot = process.getuid?.() === 0;
  if (kind === 'unshare') return [UNSHARE, ...(isRoot ? [] : ['--user', '--map-root-user']), '--mount'];
  const user = ['--unshare-user', '--uid', '0', '--gid', '0', '--cap-add', 'ALL'];
  return [bwrap, ...user, '--die-with-parent', '--dev-bind', '/', '/', '--'];
}
