import { fail, ok, type Result } from '../../kernel/result.ts';
import type { ClassifiedChange, Stage } from '../../kernel/world/stage.ts';
import type { Change } from '../../kernel/world/workspace.ts';
import type { SelectedChanges } from './select-changes.ts';

/** New texts by path: a person edited them, or chose some of their hunks. */
export type EditedTexts = ReadonlyMap<string, string>;

/**
 * Turns selected changes into changes of the workspace, each with the version that must be there. A new folder of which
 * everything is kept comes in as a whole.
 */
export function toChanges(stage: Stage, { kept, left }: SelectedChanges, texts: EditedTexts): Result<Change[]> {
  const partial = new Set([...left.map(({ path }) => path), ...texts.keys()].flatMap(foldersAbove));
  const whole = new Set(
    kept.filter((change) => isNewFolder(change) && !partial.has(change.path)).map(({ path }) => path),
  );
  const changes: Change[] = [];
  for (const change of kept) {
    if (foldersAbove(change.path).some((folder) => whole.has(folder))) continue;
    const text = texts.get(change.path);
    if (text !== undefined && change.after?.type !== 'file') {
      return fail('INVALID_INPUT', `${change.path} is no file, so it cannot have an edited text.`);
    }
    // A folder of which only a part is kept is made by the files in it.
    if (isNewFolder(change) && !whole.has(change.path)) continue;
    changes.push(text === undefined ? toChange(stage, change) : toWrite(change, text));
  }
  return ok(changes);
}

function toChange(stage: Stage, { path, kind, before, after }: ClassifiedChange): Change {
  if (kind === 'deleted' || after === null) {
    return {
      kind: 'delete',
      path,
      recursive: true,
      ...(before?.version != null && { expect: { version: before.version } }),
    };
  }
  if (kind === 'mode') {
    const { version = null, mode } = before ?? {};
    return { kind: 'mode', path, mode: after.mode, expect: { version, ...(mode !== undefined && { mode }) } };
  }
  const content = { version: after.version };
  return { kind: 'take', path, from: stage.contentOf(path), mode: after.mode, content, expect: expectation(before) };
}

function toWrite({ path, before, after }: ClassifiedChange, text: string): Change {
  const mode = before === null && after !== null && { mode: after.mode & 0o777 };
  return { kind: 'write', path, content: { text }, expect: expectation(before), ...mode };
}

function expectation(before: ClassifiedChange['before']): 'absent' | { version: string } {
  return before === null ? 'absent' : { version: before.version ?? '' };
}

function isNewFolder({ kind, after }: ClassifiedChange): boolean {
  return kind === 'created' && after?.type === 'directory';
}

function foldersAbove(path: string): string[] {
  const folders: string[] = [];
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) folders.push(path.slice(0, at));
  return folders;
}
