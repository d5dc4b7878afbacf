/**
 * The built-in file rules: which names hold secrets, and which files the host obeys. How rules are applied to a path is in
 * file-policy.ts.
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
}

const KEYS = 'it looks like a private key';
const CREDENTIALS = 'it holds credentials';
const ENVIRONMENT = 'environment files hold secrets';
const GIT = 'git on the host can run programs from it';
const EDITOR = 'editors and tools on the host can run programs from it';
const OWN = "it is Toolwright's own";

const hidden = (reason: string, ...patterns: string[]): FileRule[] =>
  patterns.map((pattern) => ({ pattern, access: 'hidden', reason }));
const readOnly = (reason: string, ...patterns: string[]): FileRule[] =>
  patterns.map((pattern) => ({ pattern, access: 'read-only', reason }));
export const writable = (reason: string, ...patterns: string[]): FileRule[] =>
  patterns.map((pattern) => ({ pattern, access: 'writable', reason }));

/** Files whose content is a secret. */
export const SENSITIVE_FILES: readonly FileRule[] = [
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

/** Files that make programs on the host, or Toolwright, do something. */
export const PROTECTED_FILES: readonly FileRule[] = [
  ...readOnly(GIT, '**/.git/hooks', '**/.git/config', '**/.git/config.worktree', '**/.git/info/attributes'),
  ...readOnly(GIT, '**/.git/modules/**/hooks', '**/.git/modules/**/config', '**/.git/commondir'),
  ...readOnly(GIT, '.husky', '.gitmodules'),
  ...readOnly(EDITOR, '**/.vscode/tasks.json', '**/.vscode/settings.json', '**/.vscode/launch.json'),
  ...readOnly(EDITOR, '**/.vscode/mcp.json', '.idea', '.devcontainer', '*.code-workspace'),
  ...readOnly(EDITOR, '.claude', '.codex', '.cursor', '.gemini', '.zed', '.mcp.json'),
  ...readOnly(EDITOR, '.gitconfig', '.profile', '.bashrc', '.bash_profile', '.bash_login', '.bash_logout'),
  ...readOnly(EDITOR, '.zshrc', '.zshenv', '.zprofile', '.zlogin', '.zlogout'),
];

/** Toolwright's own files, from the workspace root. No user rule lifts these, and no command may create them. */
export const OWN_FILES: readonly FileRule[] = readOnly(OWN, '/.toolwright');
