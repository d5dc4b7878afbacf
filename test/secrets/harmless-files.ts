// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of settings are what these files are about.
import { createValues } from './random-values.ts';
import type { CorpusFile } from './secret-files.ts';

/** Files without a secret that look like one by their name, or by words and long values in them. */
export function harmlessFiles(): readonly CorpusFile[] {
  const { of, lines, uuid } = createValues(11);
  const certificate = `-----BEGIN CERTIFICATE-----\n${lines(12).join('\n')}\n-----END CERTIFICATE-----\n`;
  const hashes = {
    'package-lock.json': JSON.stringify({ integrity: `sha512-${of('base64', 86)}==`, resolved: 'https://r.org/a.tgz' }),
    'yarn.lock': `a@^1:\n  version "1.0.0"\n  integrity sha512-${of('base64', 86)}==\n`,
    'go.sum': `host.org/a v1.0.0 h1:${of('base64', 43)}=\n`,
    'Cargo.lock': `name = "secrecy"\nchecksum = "${of('hex', 64)}"\n`,
    'poetry.lock': `name = "tokenizers"\nhash = "sha256:${of('hex', 64)}"\n`,
    'commits.txt': `${of('hex', 40)} fix token\n${of('hex', 40)} password reset\n`,
    'image.svg': `<svg><image href="data:image/png;base64,${of('base64', 400)}"/></svg>`,
    'bundle.min.js': `var token=t.next(),key="a",password=e.password;${'function a(b){return b.token};'.repeat(40)}`,
    'page.html': `<script integrity="sha384-${of('base64', 64)}" src="/a.js"></script>`,
    'ids.csv': `id,name\n${uuid()},password\n${uuid()},token\n`,
    'trace.json': JSON.stringify({ traceId: of('hex', 32), key: 'token', sort_key: of('hex', 32) }),
    'page.json': JSON.stringify({ items: [], next_page_token: of('word', 40), primaryKey: of('word', 30) }),
    known_hosts: `host.org ssh-ed25519 ${of('base64', 68)}\n`,
    'id_ed25519.pub': `ssh-ed25519 ${of('base64', 68)} a@b\n`,
    'notebook.ipynb': JSON.stringify({ cells: [{ id: of('hex', 8), outputs: [{ 'image/png': of('base64', 300) }] }] }),
  };
  const refused = ['talk.key', '.aws/task-definition.json'];
  return [
    ...Object.entries(hashes).map(([path, content]) => ({ path, content })),
    ...PUBLIC.map((path) => ({ path, content: certificate })),
    ...EXAMPLES.map((path) => ({ path, content: 'DB_PASSWORD=changeme\nAPI_KEY=<your-key>\nTOKEN=\n' })),
    ...CODE_NAMES.map((path) => ({ path, content: 'export const a = 1;\n' })),
    ...TRANSLATED.map((path) => ({ path, content: JSON.stringify({ password: 'Passwort', token: 'Token2Go!' }) })),
    ...CODE.map((line, at) => ({ path: `src/part-${at}.ts`, content: `${line}\n` })),
    ...SETTINGS.map((line, at) => ({ path: `config/set-${at}.yml`, content: `${line}\n` })),
    ...PLACEHOLDERS.flatMap((value, at) => [
      { path: `deploy/values-${at}.yaml`, content: `db:\n  password: ${value}\n  apiKey: "${value}"\n` },
      {
        path: `docs/setup-${at}.md`,
        content: `Set \`API_TOKEN=${value}\` and \`postgres://app:${value}@localhost/a\`.\n`,
      },
    ]),
    ...refused.map((path) => ({ path, content: 'nothing that opens anything\n' })),
  ];
}

const PUBLIC = [
  'ca.pem',
  'certs/cert.pem',
  'fullchain.pem',
  'chain.pem',
  'public.pem',
  'dhparam.pem',
  'ca-bundle.pem',
  'tls.crt',
  'certs/server.pem',
  'intermediate.key',
];

const EXAMPLES = [
  ...['.env.example', '.env.sample', '.env.template', '.env.dist', '.env.local.example', '.env.production.example'],
  ...['.env.production.sample', '.env.staging.template', 'example.env', 'sample.env', 'template.env', '.env.defaults'],
  ...['.envrc.example', 'config/.env.example', 'example.tfvars', 'terraform.tfvars.example', 'prod.example.tfvars'],
  ...['credentials.json.example', 'credentials.example.json', 'secrets.example.yml', 'secrets.sample.toml'],
  ...['secrets.yaml.dist', 'service-account.json.example', 'service-account.example.json', 'kubeconfig.example'],
  ...[
    '.npmrc.example',
    '.env.test',
    '.env.ci',
    'id_rsa.example',
    'server.key.template',
    'helm/templates/secrets.yaml',
    '.env.schema',
  ],
];

const CODE_NAMES = [
  ...['id_rsa_test.go', 'id_ed25519.ts', 'id_ecdsa.rs', '.env.d.ts', 'env.d.ts', 'credentials.ts', 'credentials.go'],
  ...['src/credentials/index.ts', 'credentials/mod.rs', 'src/secrets/vault.ts', 'secrets.ts', 'secrets.py', 'token.ts'],
  ...['tokens.css', 'design-tokens.json', 'password.tsx', 'passwords.rb', 'kubeconfig.go', 'kubeconfig_test.go'],
  ...[
    'environment.ts',
    'env.ts',
    'env.go',
    'keys.ts',
    'keystore.go',
    'apikey.py',
    'private-key.test.ts',
    'pem.go',
    'netrc.go',
  ],
  ...[
    'aws/client.ts',
    'azure/index.ts',
    'kube/pod.go',
    'ssh/config.go',
    'gnupg.md',
    'history.sh',
    'auth.json',
    'token.json',
  ],
];

const TRANSLATED = ['en', 'de', 'fr', 'zh'].flatMap((language) => [
  `locales/${language}/credentials.json`,
  `src/locales/${language}/secrets.json`,
  `i18n/${language}/auth.json`,
  `public/locales/${language}/login.json`,
]);

const CODE = [
  'const token = getToken();',
  'const password = process.env.DB_PASSWORD;',
  'const apiKey = config.auth.apiKey1;',
  'interface Login { password: string; token: string | null }',
  'if (password === other.password) return token;',
  'function hash(password: string, secret: Buffer): string {}',
  "const KEY = 'accessToken';",
  "localStorage.getItem('auth-token-v2');",
  "const secret = 'correct horse battery staple';",
  "throw new Error('password: must have 8 letters1');",
  'type Token = { token: Base64Url64; secret: Uint8Array<16> };',
  "const label = { password: 'Password:', token: 'Token' };",
  "expect(password).toBe('hunter2');",
  "const url = 'https://user:pass@host.org';",
  "const url = 'postgres://postgres:postgres@localhost:5432/test';",
  'const url = `postgres://${user}:${password}@${host}/db`;',
  '// -----BEGIN PRIVATE KEY----- is how such a file begins',
  "const MARK = '-----BEGIN RSA PRIVATE KEY-----';",
  "if (text.includes('PRIVATE KEY')) refuse();",
  'const shape = /gh[pousr]_[A-Za-z0-9]{36}/;',
  "const prefix = 'sk-ant-';",
  "import { sk_learn_is_a_library } from 'sk-learn-is-a-library';",
  'const pk_user_accounts_table = 1;',
  "const AWS_KEY = 'AKIAIOSFODNN7EXAMPLE';",
  "const token = 'xxxxxxxxxxxxxxxxxxxxxxxx';",
  "const token = '00000000-0000-0000-0000-000000000000';",
  "const tokenUrl = 'https://host.org/oauth2/v2.0/token';",
  "const passwordResetPath = '/account/password/reset/step2';",
  "const secretName = 'projects/12345/secrets/db/versions/3';",
  "const secretArn = 'arn:aws:secretsmanager:eu-west-1:1:secret:db-A1b2C3';",
  'max_tokens: 100, maxTokens = 4096;',
  "const cacheKey = 'users:v2:list:1a2b3c4d5e6f7a8b';",
  "const publicKey = 'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE8xyz';",
  "className='token token-keyword1 key'",
  "const csrf_token = 'f3a9c1b2d4e5f6a7b8c9d0e1';",
  "const auth = { type: 'basic', scheme: 'Bearer' };",
  '  password: faker.internet.password({ length: 20 }),',
  "  token: crypto.randomBytes(32).toString('hex'),",
  '  secret: z.string().min(32).max(64),',
  '  apiKey: import.meta.env.VITE_API_KEY,',
  "const stripe = Stripe('pk_live_51H8xKq2eZvKYlo2C9bLw2Kd3Xv8Rm');",
  "STRIPE_PUBLIC_KEY = 'pk_test_TYooMQauvdEDq54NiTphI7jx'",
  "stripe.api_key = 'sk_test_4eC39HqLyjWDarjtT1zdp7dc'",
  "const token = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c';",
  "SECRET_KEY = 'django-insecure-4k9x0w2v7b1n5m8q3z6c@p^t&y!u'",
  'headers: { Authorization: `Bearer ${accessToken}` },',
  "headers = {'Authorization': 'Bearer ' + token}",
  '// curl -u user:password https://host.org',
  'curl -u "$USER:$TOKEN" https://host.org/a',
  '<add key="WebPagesVersion" value="3.0.0.0" /><add key="PageToken" value="home" />',
];

const SETTINGS = [
  'password: ${DB_PASSWORD}',
  'token: {{ .Values.token }}',
  'secretName: db-credentials-v2',
  'secretKeyRef:\n  name: database\n  key: password',
  'passwordFile: /run/secrets/db_password',
  'password: !vault |',
  'GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}',
  'existingSecret: postgres-auth-1',
  'tokenTTL: 3600\npassword_min_length: 12',
  'key: redis-cache-1\nrestore-keys: node-22-lock-',
  'api_key: env:API_KEY',
  'auth: none',
  'password: ""',
  'token: null\nsecret: false',
  'passwordPolicy: strong1',
  'image: host.org/token-service:1.2.3@sha256:0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9',
];

const PLACEHOLDERS = [
  ...[
    'changeme',
    'change-me',
    'CHANGE_ME_123',
    'xxxxxxxxxxxx',
    '<password>',
    '<token>',
    '${VAR}',
    '$DB_PASSWORD',
    'example',
  ],
  ...[
    'your-password-here',
    'YOUR_API_KEY_1',
    'password',
    'password123',
    'secret',
    'postgres',
    'root',
    'admin',
    'dummy-value-1',
  ],
  ...[
    'test-password-1',
    'replace_this_1',
    '**********',
    '...',
    'aaaaaaaaaaaa',
    '111111111111',
    '{{password}}',
    '%(password)s',
  ],
  ...['my-secret-token', 'abcdefgh12345678', '1234567890abcdef', 'placeholder1'],
];
