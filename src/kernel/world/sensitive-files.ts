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
  /** The name is common for folders too, such as `credentials` in source code or Python's `env`: those are not meant. */
  readonly only?: 'files';
  /** A file of this name whose content is seen to hold no secret is not meant, such as a certificate in `server.pem`. */
  readonly unless?: 'public content';
}

const KEYS = 'it looks like a private key';
const CREDENTIALS = 'it holds credentials';
const ENVIRONMENT = 'environment files hold secrets';
const OWN = "it is Toolwright's own";

const hidden = (reason: string, ...patterns: string[]): FileRule[] =>
  patterns.map((pattern) => ({ pattern, access: 'hidden', reason }));
const unlessPublic = (reason: string, ...patterns: string[]): FileRule[] =>
  patterns.map((pattern) => ({ pattern, access: 'hidden', reason, unless: 'public content' }));
export const readOnly = (reason: string, ...patterns: string[]): FileRule[] =>
  patterns.map((pattern) => ({ pattern, access: 'read-only', reason }));
export const writable = (reason: string, ...patterns: string[]): FileRule[] =>
  patterns.map((pattern) => ({ pattern, access: 'writable', reason }));

/** Every prefix with every suffix. */
const each = (prefixes: readonly string[], ...suffixes: string[]): string[] =>
  prefixes.flatMap((prefix) => suffixes.map((suffix) => `${prefix}${suffix}`));

const EXAMPLE_WORDS = ['example', 'sample', 'template', 'dist', 'schema', 'tmpl'];
const ENVIRONMENTS = ['production', 'prod', 'staging', 'development', 'dev', 'local'];
const CODE = ['.go', '.rs', '.py', '.rb', '.java', '.kt', '.c', '.h', '.cc', '.cpp', '.cs', '.swift', '.md'];
const SCRIPTS = ['.ts', '.tsx', '.mts', '.js', '.mjs', '.cjs'];

/** Files whose content is a secret. */
export const SENSITIVE_FILES: readonly FileRule[] = [
  ...hidden(ENVIRONMENT, '.env', '.env.*', '.env-*', '.env_*', '.env?', '.env *', '#.env*#', '.envrc', '.envrc.*'),
  ...unlessPublic(ENVIRONMENT, '.env.test', '.env.testing', '.env.ci'),
  { pattern: 'env', access: 'hidden', reason: ENVIRONMENT, only: 'files', unless: 'public content' },
  ...hidden(ENVIRONMENT, '.envrc~', '*.env', '.envs', '.flaskenv', '.dev.vars', '.dev.vars.*'),
  ...hidden(ENVIRONMENT, ...each(['env.'], ...ENVIRONMENTS), '.secrets', '.secrets.*'),
  ...unlessPublic(KEYS, '*.pem', '*.key'),
  ...hidden(KEYS, '*.p12', '*.pfx', '*.p8', '*.jks', '*.keystore', '*.ppk', '*.kdbx'),
  ...hidden(KEYS, ...each(['*.pem', '*.key', '*.p12', '*.pfx'], '~', '.bak', '.old', '.orig')),
  ...hidden(KEYS, 'id_rsa*', 'id_dsa*', 'id_ecdsa*', 'id_ed25519*', 'ssh_host_*_key', '.ssh'),
  ...hidden(KEYS, '.gnupg', 'secring.gpg', '.password-store'),
  ...writable(
    'a public key is no secret',
    'id_*.pub',
    ...each(['public', 'public_key', 'public-key', '*.pub'], '.pem'),
  ),
  ...writable('certificates are public', ...each(['ca', 'cacert', 'ca-cert', 'ca-bundle', 'ca-certificates'], '.pem')),
  ...writable('certificates are public', ...each(['cert', 'chain', 'fullchain', 'dhparam', 'dhparams'], '.pem')),
  ...hidden(CREDENTIALS, '.git-credentials*', '.netrc', '_netrc', '.pgpass', '.my.cnf', '.mylogin.cnf', '.pypirc'),
  ...hidden(CREDENTIALS, '.dockercfg', '.dockerconfigjson', '**/.docker/config.json', '.htpasswd'),
  ...hidden(CREDENTIALS, '.aws', '.azure', '.kube', '**/.config/gcloud', '**/.config/gh', '**/.config/doctl'),
  ...hidden(CREDENTIALS, '**/.cargo/credentials*', '**/.gem/credentials', '.composer'),
  ...hidden(CREDENTIALS, '.terraformrc', 'terraform.rc', '.terraform.d', 'credentials.tfrc.json', '*.tfstate'),
  ...hidden(CREDENTIALS, '*.tfstate.*', '*.tfvars', '*.tfvars.json', 'kubeconfig', 'kubeconfig?*', '*.kubeconfig'),
  ...hidden(CREDENTIALS, '.vault-token', '.vault_pass*', '.vault-pass*', 'rootkey.csv', '*accesskeys.csv'),
  ...hidden(CREDENTIALS, '.s3cfg', '.boto', 'rclone.conf', '.sentryclirc', '.databrickscfg', '.kaggle', 'kaggle.json'),
  ...hidden(CREDENTIALS, '.authinfo*', '.msmtprc', '.fetchmailrc', '.passwd-s3fs', 'local.settings.json'),
  ...hidden(CREDENTIALS, 'wp-config.php', '*.secret.exs', '.credentials.json', 'oauth_creds.json'),
  ...hidden(CREDENTIALS, '**/.codex/auth.json', '**/opencode/auth.json', '**/huggingface/token'),
  { pattern: 'credentials', access: 'hidden', reason: CREDENTIALS, only: 'files' },
  ...hidden(
    CREDENTIALS,
    ...each(['credentials'], '.json', '.json.*', '.yml', '.yaml', '.ini', '.toml', '.xml', '.csv'),
  ),
  ...hidden(CREDENTIALS, 'service-account*.json', 'service_account*.json', 'serviceaccount*.json'),
  ...hidden(CREDENTIALS, '*-firebase-adminsdk-*.json', 'application_default_credentials.json', 'client_secret*.json'),
  ...hidden(CREDENTIALS, 'secrets.y*ml', 'secrets.json', 'secrets.toml', 'secrets.ini', 'secrets.properties'),
  ...hidden('people type passwords into commands', ...each(['.bash', '.zsh', '.psql', '.mysql'], '_history')),
  ...hidden('people type passwords into commands', ...each(['.python', '.node_repl', '.rediscli'], '_history')),
  ...writable('an example holds no secret', ...each(['*.', '.env?', '.env.*?'], ...EXAMPLE_WORDS)),
  ...writable('an example holds no secret', ...EXAMPLE_WORDS.flatMap(namedInside)),
  ...writable('it is source code', ...each(['id_*', 'kubeconfig*'], ...CODE, ...SCRIPTS), '.env.d.ts', '.env.*.d.ts'),
  ...writable('defaults hold no secret', '.env.defaults', '.env.default'),
  ...writable('translations hold no secret', ...['locales', 'locale', 'i18n', 'lang'].flatMap(translations)),
  ...writable('a chart holds only placeholders', '**/templates/secrets.y*ml'),
];

/** The word before the usual ending. Not before any: `www.example.com.key` is a key. */
function namedInside(word: string): string[] {
  const endings = ['.env', '.json', '.yml', '.yaml', '.toml', '.ini', '.tfvars', '.tfvars.json'];
  return [...each([word, `*.${word}`], ...endings), `.env.${word}.*`];
}

function translations(folder: string): string[] {
  return each([`**/${folder}/**/`], 'credentials.json', 'secrets.json', 'credentials.y*ml', 'secrets.y*ml');
}

/** Toolwright's own files, from the workspace root. No user rule lifts these, and no command may create them. */
export const OWN_FILES: readonly FileRule[] = readOnly(OWN, '/.toolwright');
