import { digestOf } from '../../host/file-version.ts';
import { visitTree } from '../../host/visit-tree.ts';
import type { PathDecisions } from '../../kernel/world/path-decisions.ts';
import { isProgramText } from '../../kernel/world/project-files.ts';
import type { UnagreedTexts } from '../../kernel/world/unagreed-texts.ts';
import { createYielder } from '../../kernel/yielding.ts';
import type { WorkspaceRoot } from '../workspace-root.ts';
import type { AgentFile, AgentFiles } from './agent-files.ts';
import { obeyedDigest } from './obeyed-digest.ts';
import { findScripts } from './project-scripts.ts';
import { wholeContent } from './whole-content.ts';

/** Entries of a folder that a call put in place; one with more is named itself. */
const MAX_BELOW = 20_000;

interface AgreementSources {
  readonly root: WorkspaceRoot;
  readonly record: AgentFiles;
  readonly decisions: PathDecisions;
}

/** Compares what the record names with what is there now: with the text before, with those a person agreed to, and with their decisions. */
export async function findUnagreed({ root, record, decisions }: AgreementSources): Promise<UnagreedTexts> {
  const known = record.all();
  const byPath = new Map(known.map((file) => [file.path, file]));
  const [found, folders] = [new Set<string>(), new Set<string>()];
  const yielder = createYielder();
  for (const file of known) {
    const below = await entriesBelow(root, file);
    if (below === 'many') folders.add(file.path);
    else if (below === null && !isAgreed(file.path, file)) found.add(file.path);
    else for (const path of below ?? []) if (!isAgreed(path, byPath.get(path))) found.add(path);
    if (yielder.isDue()) await yielder.pause();
  }
  const files = [...found].sort();
  const scripts = files.length + folders.size === 0 ? [] : findScripts(root, files);
  // Which of them runs one of these files is not known then.
  if (scripts === null) folders.add('.');
  return { files, programs: files.filter(isProgram), folders: [...folders], scripts: scripts ?? [] };

  function isProgram(path: string): boolean {
    const now = wholeContent(root, path);
    return isProgramText(path, typeof now === 'string' ? '' : now.subarray(0, 2).toString('latin1'));
  }

  function isAgreed(path: string, file: AgentFile | undefined): boolean {
    const now = wholeContent(root, path);
    if (now === 'absent') return true;
    if (now === 'unknown') return false;
    const obeyed = obeyedDigest(path, now);
    if (file !== undefined && (file.before === obeyed || file.agreed.has(obeyed))) return true;
    const exact = digestOf(now);
    return decisions
      .of(root.names.real, path)
      .some(({ kind, digest }) => kind === 'agreed-text' && (digest === exact || digest === obeyed));
  }
}

/**
 * The files and symlinks below a folder, null for everything else. A symlink is not followed: by it the folder is reached in another
 * way, and what is in it is known by its own path. Installed packages are named as one, and only in a folder that a call moved.
 */
async function entriesBelow(root: WorkspaceRoot, { path, isMoved }: AgentFile): Promise<string[] | 'many' | null> {
  const place = root.locate(path, { last: 'keep' });
  if (!place.ok) return null;
  const { folder, name, stat } = place.value;
  try {
    if (!stat?.isDirectory()) return null;
    if (name === '' || isPackages(name)) return isMoved ? [path] : [];
    const paths: string[] = [];
    const child = folder.openChild(name);
    try {
      await visitTree(child, (entry) => {
        const below = entry.folder.pathOf(entry.name);
        if (entry.type !== 'directory' || (isMoved && isPackages(entry.name))) paths.push(below);
        return paths.length > MAX_BELOW ? 'stop' : 'enter';
      });
    } finally {
      child.close();
    }
    return paths.length > MAX_BELOW ? 'many' : paths;
  } catch {
    return 'many';
  } finally {
    folder.close();
  }
}

function isPackages(name: string): boolean {
  return name.toLowerCase() === 'node_modules';
}
