import { errnoOf } from '../../host/errno.ts';
import { digestOf } from '../../host/file-version.ts';
import type { Change } from '../../kernel/world/workspace.ts';
import type { PreparedChange, Writer } from '../change/prepared-change.ts';
import type { NotedChange } from './agent-files.ts';
import { obeyedDigest } from './obeyed-digest.ts';
import { wholeContent } from './whole-content.ts';

/** A file whose new text a person has agreed to, with the hash of that text. */
export interface AgreedChange {
  readonly path: string;
  readonly digest: string;
}

/** Notes the places of changes that are about to be made. Throws what the system throws; then nothing may be changed. */
export function noteChanges({ agentFiles }: Writer, prepared: readonly PreparedChange[]): void {
  agentFiles.note(prepared.flatMap(toNote));
}

/** Packages that a command installs are the registry's. */
function toNote({ recorded, before }: PreparedChange): NotedChange[] {
  const { kind } = recorded;
  if (kind === 'delete' || kind === 'mode') return [];
  if (kind === 'take' && /(?:^|\/)node_modules(?:\/|$)/i.test(recorded.path)) return [];
  return [
    { path: kind === 'move' ? recorded.to : recorded.path, isMoved: kind === 'move', before: before ?? (() => null) },
  ];
}

/**
 * The changes to which a person has agreed and whose whole text they know: a diff of a text that nobody has agreed to shows
 * no more than the lines that change. To be asked before the changes are noted.
 */
export function agreedChanges(
  { agentFiles, agreedPaths = [] }: Writer,
  changes: readonly Change[],
  prepared: readonly PreparedChange[],
): readonly AgreedChange[] {
  if (agreedPaths.length === 0) return [];
  const agreed = new Set(agreedPaths);
  return changes.flatMap((change, index) => {
    const { recorded, before } = prepared[index] as PreparedChange;
    if (!('path' in change) || !agreed.has(change.path)) return [];
    const digest = recorded.kind === 'write' ? recorded.after : recorded.kind === 'take' ? recorded.digest : null;
    if (digest === null || !('path' in recorded)) return [];
    const old = before === undefined ? null : before();
    const isKnown = old === null || (old !== undefined && agentFiles.isAgreed(recorded.path, old));
    return isKnown ? [{ path: recorded.path, digest }] : [];
  });
}

/** Notes the texts once they are there. One that cannot be noted must be agreed to again. */
export function noteAgreed({ root, agentFiles }: Writer, changes: readonly AgreedChange[]): void {
  const texts = changes.flatMap(({ path, digest }) => {
    const now = wholeContent(root, path);
    return typeof now === 'string' || digestOf(now) !== digest ? [] : [{ path, digest: obeyedDigest(path, now) }];
  });
  try {
    agentFiles.noteAgreed(texts);
  } catch (thrown) {
    if (errnoOf(thrown) === undefined) throw thrown;
  }
}
