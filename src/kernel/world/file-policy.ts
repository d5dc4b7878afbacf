import type { TextMatcher } from '../text/automaton.ts';
import { globMatcher, PATH_RULE_GLOB } from '../text/glob.ts';
import { PROTECTED_FILES } from './obeyed-files.ts';
import { type FileAccess, type FileRule, OWN_FILES, SENSITIVE_FILES, writable } from './sensitive-files.ts';

/** The verdict of the file policy about one path: which access tools and commands have, and by which rule. */
export interface FileVerdict {
  readonly access: FileAccess;
  readonly rule: FileRule | null;
}

/** The kind of entry at a path. Left out where that is not known: rules for files alone count too. */
export type EntryKind = 'file' | 'directory' | 'symlink' | 'other';

/** `private keys`: the user says that it holds no secret, and only a private key is too clear to be none. */
export type CountedSecrets = 'all' | 'private keys' | 'none';

/** Whether the name alone does not decide: of such a name the content counts, or whether it is a folder. */
export function isDisputed({ rule }: FileVerdict): boolean {
  return rule?.unless === 'public content' || rule?.only === 'files';
}

export type PathJudge = Pick<FilePolicy, 'judge' | 'judgeEntry'>;

/**
 * Judges paths by name alone and never looks at the disk. The sandbox masks by its rules and file tools ask it path by
 * path, so both agree.
 */
export interface FilePolicy {
  readonly rules: readonly FileRule[];
  /** `path` is relative to the workspace. The strictest of the path and the folders above it. */
  judge(path: string, kind?: EntryKind): FileVerdict;
  /** Judges one name in a folder that is itself not hidden, for walks over the tree. */
  judgeEntry(folder: string, name: string, kind?: EntryKind): FileVerdict;
  /** Which secrets count that its content shows. */
  countedSecrets(path: string): CountedSecrets;
  /** The same rules without the built-in list of secrets: they hold also for a path that a person frees. */
  readonly besideSecrets: PathJudge;
  /** Whether a rule protects something in a folder of this path. A symlink to it would give that a path without a rule. */
  holdsProtected(path: string): boolean;
  /** The same of rules that hide something. */
  holdsHidden(path: string): boolean;
}

/**
 * The built-in table with a user's rules on top. Among the rules that match a path the last one decides. `noSecrets` are
 * patterns that the user takes off the built-in list of secrets, and off nothing else.
 */
export function createFilePolicy(userRules: readonly FileRule[] = [], noSecrets: readonly string[] = []): FilePolicy {
  const lifted = writable('the user says that it holds no secret', ...noSecrets);
  const others = [...PROTECTED_FILES, ...userRules, ...OWN_FILES];
  const meant = lifted.map(compile);
  const countedSecrets = (path: string): CountedSecrets => {
    const lower = path.toLowerCase();
    const name = lower.slice(lower.lastIndexOf('/') + 1);
    return meant.some(({ nameOnly, whole }) => whole(nameOnly ? name : lower)) ? 'private keys' : 'all';
  };
  return {
    ...filePolicy([...SENSITIVE_FILES, ...lifted, ...others]),
    countedSecrets,
    besideSecrets: filePolicy(others),
  };
}

const STRICTNESS: Record<FileAccess, number> = { writable: 0, 'read-only': 1, hidden: 2 };

function filePolicy(rules: readonly FileRule[]): Omit<FilePolicy, 'countedSecrets' | 'besideSecrets'> {
  const compiled = rules.map(compile).reverse();
  const mayMatch = byLastName(compiled);
  const patterns = (access: FileAccess): string[] => rules.filter((rule) => rule.access === access).map(patternOf);
  const isProtectedIn = anyOf(patterns('read-only').flatMap(foldersNamed));
  const isHiddenIn = anyOf(
    patterns('hidden').flatMap((pattern) => [...foldersNamed(pattern), ...foldersMeant(pattern)]),
  );

  function judgeEntry(folder: string, name: string, kind?: EntryKind): FileVerdict {
    const lower = name.toLowerCase();
    return decide(candidatesOf(lower, kind), folder, lower);
  }

  function candidatesOf(lower: string, kind: EntryKind | undefined): readonly CompiledRule[] {
    const candidates = mayMatch(lower);
    if (candidates === NONE || kind !== 'directory') return candidates;
    const meant = candidates.filter(({ rule }) => rule.only !== 'files');
    return meant.length === 0 ? NONE : meant;
  }

  function decide(candidates: readonly CompiledRule[], folder: string, lower: string): FileVerdict {
    if (candidates === NONE) return WRITABLE;
    const path = folder === '' ? lower : `${folder.toLowerCase()}/${lower}`;
    for (const { rule, nameOnly, whole } of candidates) {
      if (nameOnly || whole(path)) return { access: rule.access, rule };
    }
    return WRITABLE;
  }

  function judge(path: string, kind?: EntryKind): FileVerdict {
    let strictest = WRITABLE;
    let folder = '';
    let met = 0;
    const names = path.split('/').filter((name) => name !== '' && name !== '.');
    for (const [at, name] of names.slice(0, walkedNames(names)).entries()) {
      const lower = name.toLowerCase();
      const candidates = candidatesOf(lower, at < names.length - 1 ? 'directory' : kind);
      if (candidates !== NONE) met++;
      const verdict = met > MAX_MATCHED_NAMES ? strictly(candidates) : decide(candidates, folder, lower);
      if (STRICTNESS[verdict.access] > STRICTNESS[strictest.access]) strictest = verdict;
      if (strictest.access === 'hidden') return strictest;
      folder = folder === '' ? name : `${folder}/${name}`;
    }
    return strictest;
  }

  return {
    ...{ rules, judge, judgeEntry },
    holdsProtected: (path) => isProtectedIn(path.toLowerCase()),
    holdsHidden: (path) => isHiddenIn(path.toLowerCase()),
  };
}

/**
 * False for folders in which nothing is judged: published packages are no secret and git's objects are no working files,
 * but both are most of the entries of a workspace. Letter case counts here: in another case the name may be an ordinary
 * folder, and where it is the same folder, walking it only costs time.
 */
export function isWalked(folder: string): boolean {
  return !(IN_GIT.test(folder) ? GIT_DATA : PACKAGES).test(folder);
}

/** Whether a path lies in a folder that is not walked, however deep. */
export function liesUnwalked(path: string): boolean {
  const names = path.split('/');
  return walkedNames(names) < names.length;
}

/** How many names of a path are judged. Only two positions can end that; checking every one is quadratic in a long path. */
function walkedNames(names: readonly string[]): number {
  const ends = [names.indexOf('node_modules') + 1, names.indexOf('.git') + 2];
  return Math.min(names.length, ...ends.filter((end) => !isWalked(names.slice(0, end).join('/'))));
}

const IN_GIT = /(?:^|\/)\.git\//i;
const PACKAGES = /(?:^|\/)node_modules$/;
/** Directly in `.git` only: further down a submodule may have such a name, and its hooks with it. */
const GIT_DATA = /^(?:(?!\.git\/)[^/]+\/)*\.git\/(?:objects|refs|logs|lfs|rr-cache)$/;

const WRITABLE: FileVerdict = { access: 'writable', rule: null };
const NONE: readonly CompiledRule[] = [];
/** Names of one path that rules may match, before rules are matched by name alone: each full match takes the whole path. */
const MAX_MATCHED_NAMES = 100;

/** Judges by the last name alone: a rule that restricts access applies whatever the folders are. */
function strictly(candidates: readonly CompiledRule[]): FileVerdict {
  const found = candidates.find(({ rule, nameOnly }) => nameOnly || rule.access !== 'writable');
  return found === undefined ? WRITABLE : { access: found.rule.access, rule: found.rule };
}

interface CompiledRule {
  rule: FileRule;
  nameOnly: boolean;
  /** The last name of the pattern, a glob too. */
  last: string;
  whole: TextMatcher;
}

function compile(rule: FileRule): CompiledRule {
  const pattern = patternOf(rule);
  const last = pattern.slice(pattern.lastIndexOf('/') + 1);
  const nameOnly = !rule.pattern.replace(/\/+$/, '').includes('/');
  return { rule, nameOnly, last, whole: globMatcher(pattern, PATH_RULE_GLOB) };
}

function patternOf(rule: FileRule): string {
  return rule.pattern.toLowerCase().replace(/^\/+|\/+$/g, '');
}

/** The folders that a pattern names above the paths it matches; none for `**`, which stands for any. */
function foldersNamed(pattern: string): string[] {
  const names = pattern.split('/');
  return names.slice(0, -1).flatMap((name, i) => (name === '**' ? [] : [names.slice(0, i + 1).join('/')]));
}

/** The folders that a `**` inside a pattern stands for; not at its start, where a file matches under any path. */
function foldersMeant(pattern: string): string[] {
  const at = pattern.indexOf('/**/');
  return at === -1 ? [] : [`${pattern.slice(0, at)}/**`];
}

function anyOf(patterns: readonly string[]): TextMatcher {
  return globMatcher([...new Set(patterns)], PATH_RULE_GLOB);
}

/**
 * The rules whose last name a name matches. Almost no name in a tree matches any, and a tree has many: one matcher over
 * all rules tells so. A writable rule alone changes nothing, so it does not make a name a candidate.
 */
function byLastName(compiled: readonly CompiledRule[]): (name: string) => readonly CompiledRule[] {
  const isAny = anyOf(compiled.filter(({ rule }) => rule.access !== 'writable').map(({ last }) => last));
  const names = compiled.map((rule) => ({ rule, matches: anyOf([rule.last]) }));
  return (name) => (isAny(name) ? names.filter(({ matches }) => matches(name)).map(({ rule }) => rule) : NONE);
}
