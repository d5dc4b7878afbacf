import { basename } from 'node:path';
import { gitFileRule, isGitPath, ObeyedPaths } from '../git/obeyed-paths.ts';
import { whyPendingStep } from '../git/pending-steps.ts';
import { MAX_HASHED_BYTES } from '../host/file-version.ts';
import { entriesIn, statOf } from '../host/files.ts';
import { MAX_PATH_BYTES } from '../host/parse-path.ts';
import { type FilePolicy, isWalked } from '../kernel/world/file-policy.ts';
import { OWN_FILES } from '../kernel/world/sensitive-files.ts';
import type { ChangeClass, ClassifiedChange, StagedChange, StagedChanges } from '../kernel/world/stage.ts';
import { createYielder } from '../kernel/yielding.ts';
import type { GitFacts } from './git-facts.ts';
import { isHarmlessInRepository } from './repository-data.ts';
import { StagedView } from './staged-view.ts';

export interface ClassifyOptions {
  readonly workspace: string;
  readonly policy: FilePolicy;
  /** Where the user's own git configuration is, which may name folders of hooks. */
  readonly home: string;
  readonly git: GitFacts;
  /** Paths of repositories that hold what nothing else has. */
  readonly lost: ReadonlySet<string>;
  /** Whether this session wrote that version of a file, so that its loss is no loss to the user. */
  wrote(path: string, version: string): boolean;
}

type Verdict = Pick<ClassifiedChange, 'class' | 'reason'>;

const SET_ID = 0o6000;
const MAY_READ = 0o444;
const DECIDES_IGNORED = /(?:^|\/)\.git\/info\/exclude$/;
const PACKAGES = /(?:^|\/)(?:node_modules|\.venv|venv|site-packages|bower_components|Pods|\.bundle)(?:\/|$)/;
/** A folder of this name may also be the user's own, so that the name alone decides nothing. */
const VENDOR = /(?<=^|\/)vendor(?=\/|$)/g;
/** Bundler's own folder, by language and version. */
const BUNDLE = /^\/bundle\/(?:ruby|jruby|truffleruby)(?:\/|$)/;
/** Files that Composer and Go write into a vendor folder that they fill. */
const VENDOR_MANIFESTS = ['composer/installed.json', 'modules.txt'];

/** Returns the changes with their classes, by the workspace as it would be with all of them kept. */
export async function classifyChanges(staged: StagedChanges, options: ClassifyOptions): Promise<ClassifiedChange[]> {
  const view = new StagedView(options.workspace, staged);
  const obeyed = new ObeyedPaths(options.workspace, options.home, view);
  const judges: ChangeJudges = { ...options, view, obeyed, vendors: new Map() };
  const yielder = createYielder();
  const classified: ClassifiedChange[] = [];
  for (const change of staged.changes) {
    const verdict = classify(change, judges);
    classified.push({ ...change, ...verdict, ...lossOf(change, verdict, options) });
    if (yielder.isDue()) await yielder.pause();
  }
  return classified;
}

interface ChangeJudges extends ClassifyOptions {
  readonly view: StagedView;
  readonly obeyed: ObeyedPaths;
  /** Whether a package manager fills a folder called vendor, by its path. */
  readonly vendors: Map<string, boolean>;
}

function classify(change: StagedChange, judges: ChangeJudges): Verdict {
  const special = whySpecial(change, judges);
  if (special !== undefined) return { class: 'special', reason: special };
  const { access, rule } = judges.policy.judge(change.path, (change.after ?? change.before)?.type);
  if (access === 'hidden') return { class: 'sensitive', reason: rule?.reason ?? 'it is hidden by a rule' };
  if (change.masked)
    return { class: 'sensitive', reason: 'it is hidden from commands, which do not see what is in it' };
  const why = whyProtected(change, judges);
  if (why !== undefined) return { class: 'protected', reason: why };
  return { class: plainClass(change, judges) };
}

function plainClass({ path, kind }: StagedChange, judges: ChangeJudges): ChangeClass {
  if (isGitPath(path)) return 'repository';
  if (PACKAGES.test(path) || isVendored(path, judges)) return 'packages';
  if (judges.git.isIgnored(path)) return 'ignored';
  return kind === 'created' ? 'new' : 'ordinary';
}

/** Whether a package manager wrote it: git ignores the vendor folder's content, or the folder is one that it fills. */
function isVendored(path: string, judges: ChangeJudges): boolean {
  for (const { index } of path.matchAll(VENDOR)) {
    const end = index + 'vendor'.length;
    if (BUNDLE.test(path.slice(end)) || judges.git.isIgnored(path) || hasManifest(path.slice(0, end), judges))
      return true;
  }
  return false;
}

/** Whether a vendor folder has a manifest. One that a run adds to an older folder does not count: the rest may be the user's. */
function hasManifest(folder: string, { workspace, view, vendors }: ChangeJudges): boolean {
  const known = vendors.get(folder);
  if (known !== undefined) return known;
  const isNew = statOf(`${workspace}/${folder}`) === undefined;
  const isFilled = VENDOR_MANIFESTS.some((name) => {
    const at = `${folder}/${name}`;
    return (isNew ? view.stat(at) : statOf(`${workspace}/${at}`))?.isFile() ?? false;
  });
  vendors.set(folder, isFilled);
  return isFilled;
}

function whySpecial({ path, kind, after, unnameable }: StagedChange, { policy }: ChangeJudges): string | undefined {
  if (unnameable) return 'its name is no valid text';
  if (path === '~' || path.startsWith('~/')) return 'no tool takes a path that begins with ~';
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `its path is longer than ${MAX_PATH_BYTES} bytes`;
  const { rule } = policy.judge(path);
  if (rule !== null && OWN_FILES.includes(rule)) return rule.reason;
  if (after?.type === 'other') return 'it is a device, a socket or a pipe';
  if (kind !== 'deleted' && kind !== 'mode' && after?.type === 'file' && after.size > MAX_HASHED_BYTES)
    return 'it is larger than 1 GB';
  if (kind === 'created' && after?.type === 'file' && (after.mode & MAY_READ) === 0)
    return 'nobody may read it, as where a command moved a hidden file';
  if (kind !== 'deleted' && ((after?.mode ?? 0) & SET_ID) !== 0)
    return 'it would run with the rights of its owner or group';
  return undefined;
}

/** Why the host would run or obey it, by its name, by the shape of its folder, or because a folder above one goes. */
function whyProtected(change: StagedChange, judges: ChangeJudges): string | undefined {
  const { path, kind } = change;
  const { policy, view, obeyed } = judges;
  if (isHarmlessInRepository(change, view, judges.workspace)) return undefined;
  const named = policy.judge(path);
  if (named.access === 'read-only') return named.rule?.reason ?? 'a rule protects it';
  const isSymlink = change.after?.type === 'symlink' || change.before?.type === 'symlink';
  if (isSymlink && policy.holdsProtected(path)) return 'the host takes what it leads to for protected files';
  if (DECIDES_IGNORED.test(path) && !isOnlyComments(view.readWhole(path)))
    return 'it decides which files git ignores, and those are kept without a question';
  const isWritten = change.after !== null && change.after.type !== 'directory';
  const step = isWritten ? whyPendingStep(path, (at) => view.readWhole(`${judges.workspace}/${at}`)) : null;
  if (step !== null) return step;
  const gitFile = change.after === null ? null : gitFileRule(basename(path), change.after.type);
  if (gitFile !== null) return gitFile.reason;
  // Git moves the HEAD of a repository itself; without a configuration or hooks a planted one runs nothing.
  const isOwnHead = isGitPath(path) && basename(path) === 'HEAD';
  const byShape = isOwnHead ? null : obeyed.reasonFor(path, obeyed.configuredFor(path), (at) => view.stat(at));
  if (byShape !== null) return byShape;
  if (kind !== 'deleted' || change.before?.type !== 'directory') return undefined;
  return protectedBelow(judges, path);
}

/** The reason by which a folder that is deleted is protected: a protected file in it. */
function protectedBelow({ workspace, policy }: ChangeJudges, top: string): string | undefined {
  const queue = [top];
  for (let folder = queue.pop(); folder !== undefined; folder = queue.pop()) {
    for (const entry of entriesIn(`${workspace}/${folder}`)) {
      const { access, rule } = policy.judgeEntry(folder, entry.name);
      const path = `${folder}/${entry.name}`;
      if (access === 'read-only') return `it has ${path} in it: ${rule?.reason ?? 'a rule protects it'}`;
      if (entry.isDirectory() && isWalked(path)) queue.push(path);
    }
  }
  return undefined;
}

/** Whether a file ignores nothing, as `git init` writes it. */
function isOnlyComments(text: string | null): boolean {
  return text?.split('\n').every((line) => line === '' || line.startsWith('#')) ?? false;
}

const REPOSITORY = /(^|\/)\.git(\/(objects|refs))?$/;
/** The names of packed branches, where branches were, and resolutions of conflicts; git only changes what is in them. */
const ONLY_COPY = /(?:^|\/)\.git\/(?:modules\/.+\/)?(?:packed-refs|logs|rr-cache)$/;

/** The loss by a change: data of a repository that nothing else has, or text in no commit that the session did not write. */
function lossOf(
  change: StagedChange,
  { class: of, reason }: Verdict,
  options: ClassifyOptions,
): Partial<ClassifiedChange> {
  const { path, kind, before } = change;
  if (kind === 'deleted' && ONLY_COPY.test(path)) {
    return { loses: true, reason: reason ?? 'git itself never removes it, and nothing else has what it says' };
  }
  if (options.lost.has(path) || (kind === 'deleted' && REPOSITORY.test(path))) {
    return { loses: true, reason: reason ?? 'the repository has commits or objects in it that are nowhere else' };
  }
  if (before === null || (kind !== 'deleted' && kind !== 'modified')) return {};
  // Packages can be installed again; in a folder called vendor there may be text of the user beside them.
  const isText = of === 'ordinary' || of === 'protected' || (of === 'packages' && !PACKAGES.test(path));
  if (!isText) return {};
  if (before.version !== null && before.type === 'file' && options.wrote(path, before.version)) return {};
  // Without a repository nothing is committed, and a text that only changed can be undone.
  const isUncommitted = options.git.isUncommitted(path) ?? kind === 'deleted';
  return isUncommitted ? { loses: true, reason: reason ?? 'its text is in no commit' } : {};
}
