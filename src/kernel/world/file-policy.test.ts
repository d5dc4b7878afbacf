import { describe, expect, test } from 'vitest';
import { createFilePolicy } from './file-policy.ts';

const policy = createFilePolicy();

describe('the file policy', () => {
  test.each([
    ['.env', 'hidden'],
    ['config/.env.production', 'hidden'],
    ['a/b/.ENV', 'hidden'],
    ['.env~', 'hidden'],
    ['.env-prod', 'hidden'],
    ['.env_local', 'hidden'],
    ['.envrc.local', 'hidden'],
    ['.env.example', 'writable'],
    ['.env-sample', 'writable'],
    ['.envrc.example', 'writable'],
    ['.environment', 'writable'],
    ['infra/terraform.tfstate.backup', 'hidden'],
    ['infra/terraform.tfstate.d/prod/x', 'hidden'],
    ['infra/prod.auto.tfvars.json', 'hidden'],
    ['infra/prod.tfvars.example', 'writable'],
    ['deploy/id_ed25519', 'hidden'],
    ['deploy/id_ed25519.pub', 'writable'],
    ['certs/server.PEM', 'hidden'],
    ['.aws/credentials', 'hidden'],
    ['.git-credentials', 'hidden'],
    ['toolwright/credentials.json.0a1b2c3d4e5f', 'hidden'],
    ['node_modules/x/test/key.pem', 'writable'],
    ['.git/hooks/pre-commit', 'read-only'],
    ['.git/config', 'read-only'],
    ['.git/index', 'writable'],
    ['vendor/lib/.git/hooks', 'read-only'],
    ['.GIT/HOOKS/x', 'read-only'],
    ['.git/modules/a/b/hooks/x', 'read-only'],
    ['.toolwright/config.json', 'read-only'],
    ['.vscode/tasks.json', 'read-only'],
    ['pkg/.vscode/settings.json', 'read-only'],
    ['.vscode/extensions.json', 'writable'],
    ['.gemini/settings.json', 'read-only'],
    ['pkg/.codex/config.toml', 'read-only'],
    ['.zed/tasks.json', 'read-only'],
    ['.bash_login', 'read-only'],
    ['.zlogout', 'read-only'],
    ['.npmrc', 'read-only'],
    ['packages/a/.yarnrc.yml', 'read-only'],
    ['.pnpmfile.cjs', 'read-only'],
    ['crates/a/.cargo/config.toml', 'read-only'],
    ['.cargo/audit.toml', 'writable'],
    ['.devcontainer.json', 'read-only'],
    ['.hg/hgrc', 'read-only'],
    ['.vscode/c_cpp_properties.json', 'read-only'],
    ['.opencode/plugin/a.ts', 'read-only'],
    ['opencode.json', 'read-only'],
    ['.windsurf/mcp.json', 'read-only'],
    ['.roo/mcp.json', 'read-only'],
    ['.kiro/hooks/a.json', 'read-only'],
    ['.continue/config.yaml', 'read-only'],
    ['.qwen/settings.json', 'read-only'],
    ['.amazonq/mcp.json', 'read-only'],
    ['.factory/mcp.json', 'read-only'],
    ['.aider.conf.yml', 'read-only'],
    ['.junie/guidelines.md', 'read-only'],
    ['.augment/rules/a.md', 'read-only'],
    ['.trae/rules/a.md', 'read-only'],
    ['WARP.md', 'read-only'],
    ['.goosehints', 'read-only'],
    ['.kilocode/mcp.json', 'read-only'],
    ['CRUSH.md', 'read-only'],
    ['.crush.json', 'read-only'],
    ['.theia/tasks.json', 'read-only'],
    ['.fleet/run.json', 'read-only'],
    ['.run/Dev.run.xml', 'read-only'],
    ['a.sublime-project', 'read-only'],
    ['.lvimrc', 'read-only'],
    ['.mise/tasks/build', 'read-only'],
    ['.rtx.toml', 'read-only'],
    ['.bash_aliases', 'read-only'],
    ['.inputrc', 'read-only'],
    ['.tmux.conf', 'read-only'],
    ['.irbrc', 'read-only'],
    ['.pryrc', 'read-only'],
    ['.pdbrc', 'read-only'],
    ['.Rprofile', 'read-only'],
    ['.ghci', 'read-only'],
    ['.run/notes.txt', 'writable'],
    ['.github/copilot-instructions.md', 'read-only'],
    ['.github/workflows/ci.yml', 'writable'],
    ['AGENTS.md', 'read-only'],
    ['pkg/claude.md', 'read-only'],
    ['GEMINI.md', 'read-only'],
    ['.cursorrules', 'read-only'],
    ['.mise.toml', 'read-only'],
    ['.envrc', 'hidden'],
    ['.pre-commit-config.yaml', 'read-only'],
    ['.lefthook.yml', 'read-only'],
    ['lefthook.yml', 'read-only'],
    ['.husky/pre-commit', 'read-only'],
    ['package.json', 'writable'],
    ['README.md', 'writable'],
    ['src/index.ts', 'writable'],
    ['environment.ts', 'writable'],
    ['packages/a/node_modules/x/.env', 'writable'],
    ['.git/refs/heads/server.pem', 'writable'],
    ['NODE_MODULES/x/.env', 'hidden'],
    ['.GIT/Objects/x/.env', 'hidden'],
    ['', 'writable'],
  ])('says that %s is %s', (path, access) => {
    expect(policy.judge(path).access).toBe(access);
  });

  test.each([
    ...[
      '.env1',
      '.env copy',
      '.env (1)',
      '#.env#',
      '.flaskenv',
      '.dev.vars',
      'env.production',
      '.envs/.production/.django',
    ],
    ...[
      'credentials',
      'a/credentials.yml',
      'credentials.csv',
      'rootkey.csv',
      '.vault-token',
      'kubeconfig',
      'prod.kubeconfig',
    ],
    ...['secrets.json', 'secrets.toml', '.secrets', 'serviceAccountKey.json', 'a-firebase-adminsdk-x1.json'],
    ...[
      'client_secret_1.json',
      '.dockerconfigjson',
      'AuthKey_1.p8',
      'server.pem.bak',
      'ssh_host_rsa_key',
      'secring.gpg',
    ],
    ...['.s3cfg', '.boto', 'rclone.conf', '.mylogin.cnf', '.sentryclirc', '.databrickscfg', '.authinfo', '.msmtprc'],
    ...['.bash_history', '.zsh_history', 'a/.codex/auth.json', '.gemini/oauth_creds.json', 'www.example.com.key'],
    ...[
      'api.example.pem',
      'config/prod.secret.exs',
      'wp-config.php',
      'application_default_credentials.json',
      'www.example.com.pem',
    ],
  ])('%s is hidden', (path) => {
    expect(policy.judge(path).access).toBe('hidden');
  });

  test.each([
    ...[
      '.env.local.example',
      '.env.production.sample',
      'example.env',
      '.env.example.local',
      '.env.defaults',
      '.env.d.ts',
    ],
    ...['ca.pem', 'certs/fullchain.pem', 'public.pem', 'dhparam.pem', 'id_rsa_test.go', 'id_ed25519.ts'],
    ...['locales/en/credentials.json', 'src/i18n/de/secrets.json', 'helm/templates/secrets.yaml', 'example.tfvars'],
    ...['credentials.example.json', 'credentials.json.template', 'credentials/mod.rs', 'src/credentials/index.ts'],
    ...['credentials.ts', 'secrets/vault.ts', 'kubeconfig.go', 'token.json'],
  ])('%s is no secret by its name', (path) => {
    expect(policy.judge(path).access).toBe('writable');
  });

  test('a rule for files alone says nothing about a folder of that name', () => {
    for (const name of ['credentials', 'env']) {
      expect(policy.judge(`src/${name}`).access).toBe('hidden');
      expect(policy.judge(`src/${name}`, 'directory').access).toBe('writable');
      expect(policy.judge(`src/${name}/bin/activate`).access).toBe('writable');
      expect(policy.judgeEntry('src', name, 'file').access).toBe('hidden');
      expect(policy.judgeEntry('src', name, 'directory').access).toBe('writable');
    }
    expect(policy.judge('src/.ssh', 'directory').access).toBe('hidden');
  });

  test.each([
    ['.npmrc', 'npm on the host can run programs from it'],
    ['.vscode/tasks.json', 'VS Code on the host can run programs from it'],
    ['CLAUDE.md', 'Claude Code on the host takes it for instructions'],
  ])('names the program that obeys %s', (path, reason) => {
    expect(policy.judge(path).rule?.reason).toBe(reason);
  });

  test("a user's rule adds to the table and may lift an entry of it, the last one that matches decides", () => {
    const own = createFilePolicy([
      { pattern: 'fixtures/test.pem', access: 'writable', reason: 'a made-up key' },
      { pattern: 'private/**', access: 'hidden', reason: 'mine' },
    ]);
    expect(own.judge('fixtures/test.pem').access).toBe('writable');
    expect(own.judge('fixtures/other.pem').access).toBe('hidden');
    expect(own.judge('private/a/b.txt').access).toBe('hidden');
  });

  test('what holds no secret by the word of the user is shown, and protected as before', () => {
    const own = createFilePolicy(
      [{ pattern: '*.test', access: 'hidden', reason: 'mine' }],
      ['.env*', '.git/config', '*'],
    );
    expect(own.judge('.env').access).toBe('writable');
    expect(own.judge('server.pem').access).toBe('writable');
    expect(own.judge('.env.test').access).toBe('hidden');
    expect(own.judge('.git/config').access).toBe('read-only');
    expect(own.judge('.toolwright/config.json').access).toBe('read-only');
  });

  test('no rule lifts the protection of Toolwright itself', () => {
    const own = createFilePolicy([{ pattern: '.toolwright', access: 'writable', reason: 'please' }]);
    expect(own.judge('.toolwright/config.json').access).toBe('read-only');
  });

  test.each([
    ['.vscode', true],
    ['pkg/.VSCode', true],
    ['.git/modules', true],
    ['docs', true],
    ['.vscode/tasks.json', false],
    ['src', false],
    ['', false],
  ])('knows whether protected files would be looked for in %s: %s', (path, expected) => {
    const own = createFilePolicy([{ pattern: 'docs/**', access: 'read-only', reason: 'mine' }]);
    expect(own.holdsProtected(path)).toBe(expected);
  });

  test.each([
    ['.docker', true],
    ['pkg/.Config', true],
    ['mine', true],
    ['mine/any/folder', true],
    ['mine.txt', false],
    ['.vscode', false],
    ['', false],
  ])('knows whether hidden files would be looked for in %s: %s', (path, expected) => {
    const own = createFilePolicy([{ pattern: 'mine/**/key.txt', access: 'hidden', reason: 'mine' }]);
    expect(own.holdsHidden(path)).toBe(expected);
  });

  test('a hidden folder hides what a later rule would show inside it', () => {
    const own = createFilePolicy([{ pattern: '.ssh/known_hosts', access: 'writable', reason: 'please' }]);
    expect(own.judge('.ssh/known_hosts').access).toBe('hidden');
  });
});
