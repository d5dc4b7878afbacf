import { pathMatcher } from './path-pattern.ts';

/**
 * What may be done with a file in the workspace, as one table: the sandbox compiles it to mounts, file tools ask it
 * path by path, and both must agree. Pure: it sees names, never the disk.
 */
export type FileAccess = 'hidden' | 'read-only' | 'writable';

export interface FileRule {
  /**
   * A name matches at any depth (`.env`, `*.pem`); a path with a slash inside starts at the workspace root, and `**`
   * stands for any number of folders. Letter case does not count. A rule for a folder holds for all inside it.
   */
  readonly pattern: string;
  readonly access: FileAccess;
  readonly reason: string;
  /**
   * For read-only paths that do not exist yet. `block`: nobody creates it from inside, in the workspace root at least.
   * `sweep`: ordinary commands do create it (`git init`), so it is judged after the run, and moved aside when the host
   * would obey it.
   */
  readonly missing?: 'block' | 'sweep';
}

export interface FileVerdict {
  readonly access: FileAccess;
  readonly rule: FileRule | null;
}

export interface FilePolicy {
  readonly rules: readonly FileRule[];
  /** `path` is relative to the workspace. The strictest of the path and the folders above it. */
  judge(path: string): FileVerdict;
  /** One name in a folder that is itself not hidden: what the walk over the tree asks. */
  judgeEntry(folder: string, name: string): FileVerdict;
  /** Whether a rule protects something in a folder of this path. A link there would give it a path that no rule knows. */
  holdsProtected(path: string): boolean;
  /** The same of rules that hide something. */
  holdsHidden(path: string): boolean;
}

const KEYS = 'it looks like a private key';
const CREDENTIALS = 'it holds credentials';
const ENVIRONMENT = 'environment files hold secrets';
const GIT = 'git on the host runs what stands here';
const EDITOR = 'editors and tools on the host run what stands here';
const OWN = "it is Toolwright's own";

const hidden = (reason: string, ...patterns: string[]): FileRule[] =>
  patterns.map((pattern) => ({ pattern, access: 'hidden', reason }));
const readOnly = (missing: 'block' | 'sweep', reason: string, ...patterns: string[]): FileRule[] =>
  patterns.map((pattern) => ({ pattern, access: 'read-only', reason, missing }));
const writable = (reason: string, ...patterns: string[]): FileRule[] =>
  patterns.map((pattern) => ({ pattern, access: 'writable', reason }));

/** Files whose content is a secret. */
const SENSITIVE_FILES: readonly FileRule[] = [
  ...hidden(ENVIRONMENT, '.env', '.env.*', '.env-*', '.env_*', '.env~', '.envrc', '.envrc.*', '.envrc~', '*.env'),
  ...writable('an example holds no secret', '.env?example', '.env?sample', '.env?template', '.env?dist'),
  ...writable('an example holds no secret', '.envrc.example', '.envrc.sample', '.envrc.template', '.envrc.dist'),
  ...hidden(KEYS, '*.pem', '*.key', '*.p12', '*.pfx', '*.jks', '*.keystore', '*.ppk', '*.kdbx'),
  ...hidden(KEYS, 'id_rsa*', 'id_dsa*', 'id_ecdsa*', 'id_ed25519*', '.ssh', '.gnupg'),
  ...writable('a public key is no secret', 'id_*.pub'),
  ...hidden(CREDENTIALS, '.git-credentials', '.netrc', '_netrc', '.pgpass', '.my.cnf', '.pypirc', '.dockercfg'),
  ...hidden(CREDENTIALS, '.aws', '.azure', '.kube', '**/.docker/config.json', '**/.config/gcloud', '.htpasswd'),
  ...hidden(CREDENTIALS, '**/.cargo/credentials*', '**/.gem/credentials', '.composer'),
  ...hidden(CREDENTIALS, '**/.config/gh', '.terraformrc'),
  ...hidden(
    CREDENTIALS,
    'credentials.json',
    'credentials.json.*',
    'service-account*.json',
    'secrets.y*ml',
    '*.tfstate',
    '*.tfstate.*',
    '*.tfvars',
    '*.tfvars.json',
  ),
];

/** Files that make the host, or Toolwright, do something. */
const PROTECTED_FILES: readonly FileRule[] = [
  ...readOnly('sweep', GIT, '**/.git/hooks', '**/.git/config', '**/.git/config.worktree', '**/.git/info/attributes'),
  ...readOnly('sweep', GIT, '**/.git/modules/**/hooks', '**/.git/modules/**/config', '**/.git/commondir'),
  ...readOnly('sweep', GIT, '.husky', '.gitmodules'),
  ...readOnly('sweep', EDITOR, '**/.vscode/tasks.json', '**/.vscode/settings.json', '**/.vscode/launch.json'),
  ...readOnly('sweep', EDITOR, '**/.vscode/mcp.json', '.idea', '.devcontainer', '*.code-workspace'),
  ...readOnly('sweep', EDITOR, '.claude', '.codex', '.cursor', '.gemini', '.zed', '.mcp.json'),
  ...readOnly('sweep', EDITOR, '.gitconfig', '.profile', '.bashrc', '.bash_profile', '.bash_login', '.bash_logout'),
  ...readOnly('sweep', EDITOR, '.zshrc', '.zshenv', '.zprofile', '.zlogin', '.zlogout'),
];

/** No user rule lifts these. */
const FLOOR: readonly FileRule[] = readOnly('block', OWN, '/.toolwright');

/**
 * The built-in table with a user's rules on top. Among the rules that match a path the last one decides. `noSecrets` are
 * patterns that the user takes off the built-in list of secrets, and off nothing else.
 */
export function createFilePolicy(userRules: readonly FileRule[] = [], noSecrets: readonly string[] = []): FilePolicy {
  const lifted = writable('the user says that it holds no secret', ...noSecrets);
  return filePolicy([...SENSITIVE_FILES, ...lifted, ...PROTECTED_FILES, ...userRules, ...FLOOR]);
}

const STRICTNESS: Record<FileAccess, number> = { writable: 0, 'read-only': 1, hidden: 2 };

function filePolicy(rules: readonly FileRule[]): FilePolicy {
  const compiled = rules.map(compile).reverse();
  const mayMatch = byLastName(compiled);
  const patterns = (access: FileAccess): string[] => rules.filter((rule) => rule.access === access).map(patternOf);
  const protectedIn = anyOf(patterns('read-only').flatMap(foldersNamed));
  const hiddenIn = anyOf(patterns('hidden').flatMap((pattern) => [...foldersNamed(pattern), ...foldersMeant(pattern)]));

  function judgeEntry(folder: string, name: string): FileVerdict {
    const lower = name.toLowerCase();
    return decide(mayMatch(lower), folder, lower);
  }

  function decide(candidates: readonly CompiledRule[], folder: string, lower: string): FileVerdict {
    if (candidates === NONE) return WRITABLE;
    const path = folder === '' ? lower : `${folder.toLowerCase()}/${lower}`;
    for (const { rule, nameOnly, whole } of candidates) {
      if (nameOnly || whole(path)) return { access: rule.access, rule };
    }
    return WRITABLE;
  }

  function judge(path: string): FileVerdict {
    let strictest = WRITABLE;
    let folder = '';
    let met = 0;
    const names = path.split('/').filter((name) => name !== '' && name !== '.');
    for (const name of names.slice(0, walkedNames(names))) {
      const lower = name.toLowerCase();
      const candidates = mayMatch(lower);
      if (candidates !== NONE) met++;
      const verdict = met > MOST_MET ? strictly(candidates) : decide(candidates, folder, lower);
      if (STRICTNESS[verdict.access] > STRICTNESS[strictest.access]) strictest = verdict;
      if (strictest.access === 'hidden') return strictest;
      folder = folder === '' ? name : `${folder}/${name}`;
    }
    return strictest;
  }

  return {
    ...{ rules, judge, judgeEntry },
    holdsProtected: (path) => protectedIn.test(path.toLowerCase()),
    holdsHidden: (path) => hiddenIn.test(path.toLowerCase()),
  };
}

/**
 * False for folders in which nothing is judged: what a package registry published is no secret and git's objects are
 * no files of anybody, but both are most of the entries of a workspace. Letter case counts here: elsewhere such a name
 * is anybody's folder, and where it is the same one it is looked at for nothing.
 */
export function isWalked(folder: string): boolean {
  return !(IN_GIT.test(folder) ? GIT_DATA : PACKAGES).test(folder);
}

/** Whether a path lies in such a folder, however deep. */
export function liesUnwalked(path: string): boolean {
  const names = path.split('/');
  return walkedNames(names) < names.length;
}

/** How many names of a path are judged. These two places alone can end that; to ask at each takes the square of a long path. */
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
/** Names in one path that rules may be about, before its folders are no longer looked at: each look takes the whole path. */
const MOST_MET = 100;

/** By the last name alone: what holds something back does so whatever the folders are. */
function strictly(candidates: readonly CompiledRule[]): FileVerdict {
  const found = candidates.find(({ rule, nameOnly }) => nameOnly || rule.access !== 'writable');
  return found === undefined ? WRITABLE : { access: found.rule.access, rule: found.rule };
}

interface CompiledRule {
  rule: FileRule;
  nameOnly: boolean;
  /** What the last name of a matching path looks like, as a glob. */
  last: string;
  whole: (path: string) => boolean;
}

function compile(rule: FileRule): CompiledRule {
  const pattern = patternOf(rule);
  const last = pattern.slice(pattern.lastIndexOf('/') + 1);
  const nameOnly = !rule.pattern.replace(/\/+$/, '').includes('/');
  return { rule, nameOnly, last, whole: pathMatcher(pattern) };
}

function patternOf(rule: FileRule): string {
  return rule.pattern.toLowerCase().replace(/^\/+|\/+$/g, '');
}

/** The folders that a pattern names on the way to what it matches; none for `**`, which is any. */
function foldersNamed(pattern: string): string[] {
  const names = pattern.split('/');
  return names.slice(0, -1).flatMap((name, i) => (name === '**' ? [] : [names.slice(0, i + 1).join('/')]));
}

/** Those that `**` stands for, but not at the start: there a file matches under any path. */
function foldersMeant(pattern: string): string[] {
  const at = pattern.indexOf('/**/');
  return at === -1 ? [] : [`${pattern.slice(0, at)}/**`];
}

function anyOf(patterns: readonly string[]): RegExp {
  return new RegExp(`^(?:${[...new Set(patterns)].map(globSource).join('|') || '(?!)'})$`, 's');
}

/**
 * Almost no name in a tree matches anything, and a tree has many: one regular expression over all rules says so, beside
 * those about how a name ends, for which it would try every place in a long name. A writable rule alone changes nothing, so
 * it does not make a name a candidate.
 */
function byLastName(compiled: readonly CompiledRule[]): (name: string) => readonly CompiledRule[] {
  const strict = compiled.filter(({ rule }) => rule.access !== 'writable').map(({ last }) => last);
  const ends = strict.filter((last) => ENDING.test(last)).map((last) => last.slice(1));
  const any = anyOf(strict.filter((last) => !ENDING.test(last)));
  const names = compiled.map((rule) => ({ rule, regex: anyOf([rule.last]) }));
  return (name) => {
    if (!any.test(name) && !endsWithAny(name, ends)) return NONE;
    return names.filter(({ regex }) => regex.test(name)).map(({ rule }) => rule);
  };
}

const ENDING = /^\*[^*?/]+$/;

function endsWithAny(name: string, ends: readonly string[]): boolean {
  for (const end of ends) if (name.endsWith(end)) return true;
  return false;
}

/** A glob as the source of a regular expression: `*` and `?` stay in a folder, `**` does not. */
function globSource(pattern: string): string {
  return pattern.replace(/\*\*\/|\/\*\*|\*\*|[*?]|[\\^$+.()|[\]{}]/g, (found) => {
    if (found === '**/') return '(?:[^/]+/)*';
    if (found === '/**') return '/.+';
    if (found === '**') return '.*';
    if (found === '*') return '[^/]*';
    if (found === '?') return '[^/]';
    return `\\${found}`;
  });
}
