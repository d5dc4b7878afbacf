/**
 * The built-in file rules: which names hold secrets, and which are Toolwright's own. Files that the host obeys are in
 * obeyed-files.ts; how rules are applied to a path is in file-policy.ts.
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
const OWN = "it is Toolwright's own";

const hidden = (reason: string, ...patterns: string[]): FileRule[] =>
  patterns.map((pattern) => ({ pattern, access: 'hidden', reason }));
export const readOnly = (reason: string, ...patterns: string[]): FileRule[] =>
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

/** Toolwright's own files, from the workspace root. No user rule lifts these, and no command may create them. */
export const OWN_FILES: readonly FileRule[] = readOnly(OWN, '/.toolwright');
