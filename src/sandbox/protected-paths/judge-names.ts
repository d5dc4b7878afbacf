import { gitFileRule, isObeyedByGit, isRepository, repositoryEntryRule } from '../../git/obeyed-paths.ts';
import type { FolderListing } from '../../host/read-folder.ts';
import { type FilePolicy, type FileVerdict, isWalked } from '../../kernel/world/file-policy.ts';
import { kindOf, type ProtectedPath } from '../../kernel/world/protected-path.ts';
import type { FileRule } from '../../kernel/world/sensitive-files.ts';
import { createYielder } from '../../kernel/yielding.ts';
import { isContentJudged } from './file-content.ts';
import { isUnwalked, mayLeadUnwalked } from './symlink-targets.ts';

/** `hidden`: only paths that a run must not read. `protected`: also those that it must not write, which the host obeys. */
export type ScanPurpose = 'hidden' | 'protected';

/** The entries of a folder, judged by their names. */
export interface JudgedEntries {
  readonly names: readonly string[];
  /** Files whose content decides, or could hide them. */
  readonly files: readonly string[];
  /** Paths of the folders in it that are walked. Kept as strings: creating and hashing them again takes as long as the walk. */
  readonly below: readonly string[];
  readonly found: readonly ProtectedPath[];
  /** Files that are found too, unless their content is public. */
  readonly unlessPublic: readonly ProtectedPath[];
  /** Symlinks in it that may lead to a folder that is walked only because of them. */
  readonly leads: readonly string[];
  /** Symlinks in it in place of a folder in which a rule hides something. */
  readonly stands: readonly string[];
}

export interface NameJudge {
  judge(path: string, listed: FolderListing): Promise<JudgedEntries>;
}

/** Entries that are judged between two checks whether other work should run. */
const BATCH = 256;

const SYMLINKED_FOLDER: FileRule = {
  pattern: 'a link in place of a folder with protected files',
  access: 'read-only',
  reason: 'the host takes what it leads to for protected files',
};

const WRITABLE: FileVerdict = { access: 'writable', rule: null };

export function createNameJudge(policy: FilePolicy, purpose: ScanPurpose): NameJudge {
  async function judge(path: string, listed: FolderListing): Promise<JudgedEntries> {
    const files: string[] = [];
    const below: string[] = [];
    const found: ProtectedPath[] = [];
    const unlessPublic: ProtectedPath[] = [];
    const leads: string[] = [];
    const stands: string[] = [];
    const { names, entries, unnameable, absolute } = listed;
    const repository = purpose === 'protected' && isRepository(names);
    const linked = isUnwalked(path) ? ({ viaSymlink: true } as const) : {};
    const hasContent = isContentJudged(path);
    const yielder = createYielder();
    let count = 0;
    for (const entry of entries) {
      if (++count % BATCH === 0 && yielder.isDue()) await yielder.pause();
      const { name } = entry;
      const kind = kindOf(entry);
      const judged = judgeEntry(path, { name, kind, repository });
      const isFreed = hasContent && kind === 'file' && judged.rule?.unless === 'public content';
      if (hasContent && kind === 'file' && (judged.access !== 'hidden' || isFreed)) files.push(name);
      // The fast path for almost all entries.
      if (kind === 'file' && judged.access === 'writable') continue;
      const full = path === '' ? name : `${path}/${name}`;
      const isNothing = linked.viaSymlink && !mattersInPackages(full, judged);
      const { access, rule } = isNothing ? WRITABLE : judged;
      const isHidden = access === 'hidden' || (access === 'writable' && entry.isSocket());
      const into = isFreed ? unlessPublic : found;
      if (isHidden)
        into.push({ path: full, kind, access: 'hidden', rule: access === 'hidden' ? rule : null, ...linked });
      else if (access === 'read-only') found.push({ path: full, kind, access, rule, ...linked });
      if (kind === 'directory' && !isHidden && isWalked(full)) below.push(full);
      if (kind !== 'symlink') continue;
      if (mayLeadUnwalked(full, `${absolute}/${name}`)) leads.push(full);
      if (!isHidden && policy.holdsHidden(full)) stands.push(full);
    }
    for (const { entry, name, bytes } of unnameable) {
      const kind = kindOf(entry);
      const full = path === '' ? name : `${path}/${name}`;
      const isWritable = judgeEntry(path, { name, kind, repository }).access === 'writable';
      if (isWritable && kind !== 'directory' && !(kind === 'symlink' && mayLeadUnwalked(full, bytes))) continue;
      found.push({ path: full, kind, access: 'hidden', rule: null, because: 'unnameable' });
    }
    return { names, files, below, found, unlessPublic, leads, stands };
  }

  function judgeEntry(folder: string, { name, kind, repository }: NamedEntry): FileVerdict {
    const verdict = policy.judgeEntry(folder, name, kind);
    if (purpose === 'hidden') return verdict.access === 'hidden' ? verdict : WRITABLE;
    if (verdict.rule !== null) return verdict;
    const gitRule = gitFileRule(name, kind) ?? (repository ? repositoryEntryRule(name) : null);
    const rule = gitRule ?? (kind === 'symlink' ? symlinkRule(policy, folder, name) : null);
    return rule === null ? verdict : { access: rule.access, rule };
  }

  return { judge };
}

interface NamedEntry {
  readonly name: string;
  readonly kind: ProtectedPath['kind'];
  /** Whether its folder is a repository. */
  readonly repository: boolean;
}

function symlinkRule(policy: FilePolicy, folder: string, name: string): FileRule | null {
  return policy.holdsProtected(folder === '' ? name : `${folder}/${name}`) ? SYMLINKED_FOLDER : null;
}

/** Packages ship editor settings, which no editor obeys there; a planted repository is obeyed wherever a symlink leads to it. */
function mattersInPackages(path: string, { access, rule }: FileVerdict): boolean {
  return access === 'hidden' || isObeyedByGit(path, rule);
}
