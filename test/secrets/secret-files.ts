import { createValues, type Values } from './random-values.ts';

export interface CorpusFile {
  readonly path: string;
  readonly content: string;
}

/** Files with a secret, under names that say nothing and under names that do. */
export function secretFiles(): readonly CorpusFile[] {
  const values = createValues(7);
  const tokens = tokensOf(values);
  return [
    ...tokens.flatMap((token, at) => tokenFiles(token, at)),
    ...keyFiles(values),
    ...connectionFiles(values),
    ...settingFiles(values),
    ...NAMED.map((path) => ({ path, content: `word ${values.of('word', 6)}\n` })),
  ];
}

/** Every token in three of these. */
function tokenFiles(token: string, at: number): CorpusFile[] {
  const forms = [
    { path: `notes/access-${at}.md`, content: `# Access\n\nUse ${token} for the deploy.\n` },
    { path: `src/client-${at}.ts`, content: `const client = createClient('${token}');\n` },
    { path: `data/export-${at}.json`, content: JSON.stringify({ id: at, value: token }, null, 2) },
    { path: `scripts/call-${at}.sh`, content: `#!/bin/sh\ncurl -H "X-Key: ${token}" https://api.host.org/v1\n` },
    { path: `log/out-${at}.log`, content: `12:00 start\n12:01 using ${token}\n12:02 end\n` },
    { path: `ci/job-${at}.yml`, content: `steps:\n  - run: deploy --key ${token}\n` },
  ];
  return [0, 2, 4].flatMap((step) => forms[(at + step) % forms.length] ?? []);
}

function tokensOf({ of, uuid }: Values): string[] {
  return [
    ...['ghp_', 'gho_', 'ghs_'].map((prefix) => prefix + of('word', 36)),
    `github_pat_${of('word', 22)}_${of('word', 59)}`,
    `glpat-${of('word', 20)}`,
    ...['xoxb', 'xoxp'].map((prefix) => `${prefix}-${of('digits', 12)}-${of('digits', 12)}-${of('word', 24)}`),
    `https://hooks.slack.com/services/T${of('upper', 8)}/B${of('upper', 10)}/${of('word', 24)}`,
    `sk_live_${of('word', 24)}`,
    `rk_live_${of('word', 24)}`,
    `sk-proj-${of('word', 48)}`,
    `sk-ant-api03-${of('word', 93)}`,
    `npm_${of('word', 36)}`,
    `pypi-AgEIcHlwaS5vcmc${of('word', 70)}`,
    `hf_${of('word', 34)}`,
    `dop_v1_${of('hex', 64)}`,
    `SG.${of('word', 22)}.${of('word', 43)}`,
    `ya29.${of('word', 80)}`,
    `AIza${of('word', 35)}`,
    `${of('digits', 9)}:AA${of('word', 33)}`,
    `SK${of('hex', 32)}`,
    `M${of('word', 23)}.${of('word', 6)}.${of('word', 38)}`,
    `https://discord.com/api/webhooks/${of('digits', 18)}/${of('word', 68)}`,
    `DefaultEndpointsProtocol=https;AccountName=a;AccountKey=${of('base64', 86)}==`,
    `AKIA${of('upper', 16)}`,
    `aws_secret_access_key = ${of('base64', 40)}`,
    `shpat_${of('hex', 32)}`,
    `sntrys_${of('word', 60)}`,
    `dapi${of('hex', 32)}`,
    `hvs.${of('word', 24)}`,
    `lin_api_${of('word', 40)}`,
    `PMAK-${of('hex', 24)}-${of('hex', 34)}`,
    `HRKU-${of('word', 36)}`,
    `dckr_pat_${of('word', 27)}`,
    `glsa_${of('word', 32)}_${of('hex', 8)}`,
    `figd_${of('word', 40)}`,
    `key-${of('hex', 32)}`,
    `whsec_${of('word', 32)}`,
    `gloas-${of('hex', 64)}`,
    `glft-${of('word', 20)}`,
    `ntn_${of('word', 46)}`,
    `secret_${of('word', 43)}`,
    `pat${of('word', 14)}.${of('hex', 64)}`,
    `1/${of('digits', 16)}:${of('hex', 32)}`,
    `xkeysib-${of('hex', 64)}-${of('word', 16)}`,
    `${of('hex', 32)}-us14`,
    `sqp_${of('hex', 40)}`,
    `squ_${of('hex', 40)}`,
    `AKCp${of('word', 69)}`,
    `LTAI5t${of('word', 18)}`,
    `AKID${of('word', 32)}`,
    `dt0c01.${of('upper', 24)}.${of('upper', 64)}`,
    `nfp_${of('word', 36)}`,
    `CFPAT-${of('word', 43)}`,
    `bkua_${of('hex', 40)}`,
    `sdk-${uuid()}`,
    `fo1_${of('word', 43)}`,
    `fm2_${of('base64', 120)}`,
    `oy2${of('hex', 43)}`,
    `sk.eyJ${of('word', 60)}.${of('word', 22)}`,
    `vcp_${of('word', 56)}`,
    `SSWS 00${of('word', 40)}`,
    `1//0${of('word', 60)}`,
    `https://a.blob.core.windows.net/c?sv=2022-11-02&sig=${of('word', 40)}%2Fa%3D`,
    `v1.0-${of('hex', 24)}-${of('hex', 146)}`,
    `https://a.webhook.office.com/webhookb2/${uuid()}@${uuid()}/IncomingWebhook/${of('hex', 32)}/${uuid()}`,
    `https://hooks.zapier.com/hooks/catch/${of('digits', 7)}/${of('hex', 7)}/`,
    `eyJ${of('word', 33)}.${of('word', 60)}.${of('word', 43)}`,
  ];
}

function keyFiles(values: Values): CorpusFile[] {
  const kinds = ['', 'RSA ', 'EC ', 'DSA ', 'OPENSSH ', 'ENCRYPTED '];
  const pem = (kind: string) => {
    const words = `${kind}PRIVATE KEY`;
    return [`-----BEGIN ${words}-----`, ...values.lines(12), `-----END ${words}-----`, ''].join('\n');
  };
  const account = { type: 'service_account', private_key_id: values.of('hex', 40), private_key: pem('') };
  return [
    ...kinds.map((kind, at) => ({ path: `deploy/material-${at}.txt`, content: pem(kind) })),
    ...kinds.map((kind, at) => ({
      path: `k8s/mounted-${at}.yaml`,
      content: `data: |\n  ${pem(kind).replaceAll('\n', '\n  ')}`,
    })),
    ...kinds.map((kind, at) => ({ path: `dump-${at}.json`, content: JSON.stringify({ a: pem(kind) }) })),
    { path: 'project-1a2b3c.json', content: JSON.stringify(account, null, 2) },
    { path: 'twice.json', content: JSON.stringify(JSON.stringify(account)) },
    {
      path: 'src/key.js',
      content: `const key = ${pem('')
        .split('\n')
        .map((line) => JSON.stringify(`${line}\n`))
        .join(' +\n  ')};`,
    },
    { path: 'windows.txt', content: pem('RSA ').replaceAll('\n', '\r\n') },
    { path: 'armored.txt', content: pem('').replaceAll('PRIVATE KEY', 'PGP PRIVATE KEY BLOCK').replace('\n', '\n\n') },
    { path: 'age.txt', content: `# created\nAGE-SECRET-KEY-1${values.of('upper', 58)}\n` },
    { path: 'putty.txt', content: `PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 2\n${values.lines(2).join('\n')}\n` },
    { path: 'jwk.json', content: JSON.stringify({ kty: 'EC', d: values.of('word', 43) }).replace('"d":', '"d": ') },
    { path: 'wg0.conf', content: `[Interface]\nPrivateKey = ${values.of('base64', 43)}=\n` },
  ];
}

function connectionFiles(values: Values): CorpusFile[] {
  const schemes = ['postgres', 'postgresql', 'mysql', 'mongodb', 'mongodb+srv', 'redis', 'amqp', 'https', 'ftp'];
  return schemes.flatMap((scheme, at) => {
    const url = `${scheme}://app:${values.of('word', 14)}@db.host.org/main`;
    return [
      { path: `config/database-${at}.yml`, content: `production:\n  url: ${url}\n` },
      { path: `app-${at}.properties`, content: `spring.datasource.url=${url}\n` },
    ];
  });
}

function settingFiles(values: Values): CorpusFile[] {
  const { of, password } = values;
  const names = [
    'DB_PASSWORD',
    'API_KEY',
    'JWT_SECRET',
    'ACCESS_TOKEN',
    'CLIENT_SECRET',
    'SECRET_KEY_BASE',
    'AUTH_TOKEN',
  ];
  return [
    ...names.map((name, at) => ({ path: `docker/vars-${at}.list`, content: `PORT=80\n${name}=${of('word', 28)}\n` })),
    ...names.map((name, at) => ({ path: `deploy/stack-${at}.yml`, content: `env:\n  ${name}: "${of('hex', 40)}"\n` })),
    ...names.map((name, at) => ({
      path: `settings-${at}.json`,
      content: JSON.stringify({ [name.toLowerCase()]: of('word', 24) }),
    })),
    ...names.map((name, at) => ({
      path: `conf/site-${at}.ini`,
      content: `[a]\n${name.toLowerCase()} = ${of('base64', 32)}\n`,
    })),
    { path: 'application.properties', content: `spring.datasource.password=${password()}\n` },
    { path: 'appsettings.json', content: JSON.stringify({ Smtp: { Password: password() } }, null, 2) },
    { path: 'database.yml', content: `production:\n  username: app\n  password: ${password()}\n` },
    {
      path: 'docker-compose.yml',
      content: `services:\n  db:\n    environment:\n      POSTGRES_PASSWORD: ${password()}\n`,
    },
    { path: '.npmrc', content: `//registry.npmjs.org/:_authToken=${values.uuid()}\n` },
    { path: '.yarnrc.yml', content: `npmAuthToken: "${values.uuid()}"\n` },
    { path: '.yarnrc', content: `"//registry.host.org/:_password" "x"\n_password=${of('base64', 24)}\n` },
    { path: 'settings.xml', content: `<server><id>a</id><password>${password()}</password></server>\n` },
    { path: 'api.http', content: `GET https://api.host.org/v1\nAuthorization: Bearer ${of('word', 40)}\n` },
    { path: 'src/call.py', content: `headers = {"Authorization": "Basic ${of('base64', 40)}"}\n` },
    { path: 'scripts/upload.sh', content: `curl -sS -u deploy:${password()} -T a.tgz https://host.org/a\n` },
    { path: 'docs/upload.md', content: `curl --user ana:${of('word', 24)} https://host.org/a\n` },
    { path: 'web.config', content: `<add key="ApiSecret" value="${of('word', 32)}" />\n` },
    { path: 'auth.json', content: JSON.stringify({ tokens: 1, refresh_token: of('word', 50) }, null, 2) },
    { path: 'token.json', content: JSON.stringify({ token: of('word', 60), type: 'Bearer' }) },
  ];
}

/** Names by which secrets are kept, whatever stands in them. */
const NAMED = [
  ...['.env', '.env.local', '.env1', '.env copy', '.env (1)', '.envs/.production/.django', '.flaskenv', '.dev.vars'],
  ...[
    'env.production',
    '.secrets',
    'credentials',
    'aws/credentials',
    'credentials.yml',
    'credentials.csv',
    'rootkey.csv',
  ],
  ...[
    'kubeconfig',
    'kubeconfig.yaml',
    'prod.kubeconfig',
    '.vault-token',
    '.vault_pass',
    'secrets.json',
    'secrets.toml',
  ],
  ...[
    'serviceAccountKey.json',
    'x-firebase-adminsdk-1.json',
    'client_secret_9.json',
    '.dockerconfigjson',
    'AuthKey_9.p8',
  ],
  ...[
    'server.pem.bak',
    'server.key.bak',
    'ssh_host_rsa_key',
    'secring.gpg',
    '.password-store/a.gpg',
    '.s3cfg',
    '.boto',
  ],
  ...['rclone.conf', '.mylogin.cnf', '.sentryclirc', '.databrickscfg', '.authinfo', '.msmtprc', '.bash_history'],
  ...['.zsh_history', '.codex/auth.json', '.gemini/oauth_creds.json', '.cache/huggingface/token', 'prod.secret.exs'],
  ...[
    '.terraform.d/credentials.tfrc.json',
    'terraform.rc',
    'local.settings.json',
    'wp-config.php',
    '.kaggle/kaggle.json',
  ],
  ...['.netrc', '.pgpass', '.pypirc', '.htpasswd', 'terraform.tfstate', 'prod.tfvars', 'id_rsa', 'store.p12', 'a.kdbx'],
];
