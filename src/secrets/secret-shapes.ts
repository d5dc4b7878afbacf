/** A text that is a secret by its shape alone. */
export interface SecretShape {
  /** As in "It holds a GitHub token". */
  readonly name: string;
  /** A regular expression without captures. It takes time linear in the text. */
  readonly source: string;
  /** The literal beginnings, so that a text that comes in pieces is held back from there. */
  readonly begins: readonly string[];
  /** The rest of one that is not complete yet. Left out: letters, digits, dots and dashes. */
  readonly rest?: string;
}

/**
 * How many dashes are read ahead. A dash is part of a token and may also stand before one: without a bound, a text of many
 * dashes would be read again from each of them.
 */
const FEW_DASHES = '{0,16}';

/**
 * A token must contain a digit, or two dots. The look-ahead always succeeds at its first try, so that no text is read
 * twice from one position; `(?!\k<digit>)` fails when the group is empty, so the pattern matches only if a digit follows.
 */
const HAS_DIGIT = String.raw`(?=[-_](?:[A-Za-z_]*-)${FEW_DASHES}[A-Za-z_]*(?<digit>\d)?)(?!\k<digit>)`;
const HAS_DOTS = String.raw`(?=(?:\w*-)${FEW_DASHES}\w*(?:\.[\w-]{8,}(?<dot>\.)?)?)(?!\k<dot>)`;

export const JWT = String.raw`\beyJ(?=[\w-]{8})${HAS_DOTS}[\w-]+\.[\w-]+\.[\w-]*`;

const UUID = '[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}';

/** A token that begins with one of these, and goes on with at least as many of the letters as `body` says. */
function prefixed(name: string, begins: string, body: string): SecretShape {
  const words = begins.split(' ');
  return { name, begins: words, source: String.raw`\b(?:${words.map(escaped).join('|')})${body}` };
}

function escaped(word: string): string {
  return word.replaceAll('.', String.raw`\.`);
}

export const CONNECTION_STRING = 'connection string';

const WITH_PASSWORD =
  'postgres postgresql mysql mariadb mongodb mongodb+srv redis rediss amqp amqps mssql sqlserver ftp sftp smtp smtps ldap ldaps nats kafka clickhouse'
    .split(' ')
    .map((scheme) => `${scheme}://`);

/** The one list of shapes: of what is hidden in records and logs, and of what makes a file a secret. */
export const SECRET_SHAPES: readonly SecretShape[] = [
  {
    name: 'API key',
    begins: ['sk-', 'sk_', 'pk-', 'pk_', 'rk-', 'rk_'],
    // A Stripe key that begins with `pk` is meant for the pages of a shop.
    source: String.raw`\b(?!pk_(?:live|test)_)(?:sk|pk|rk)${HAS_DIGIT}[-_][A-Za-z0-9_-]{16,}`,
  },
  prefixed('GitHub token', 'ghp_ gho_ ghu_ ghs_ ghr_', '[A-Za-z0-9]{20,}'),
  prefixed('GitHub token', 'github_pat_', '[A-Za-z0-9_]{20,}'),
  prefixed('GitLab token', 'glpat- glptt- gldt- glrt- glcbt- glsoat- gloas- glft-', '[A-Za-z0-9_.-]{16,}'),
  prefixed('Slack token', 'xoxa- xoxb- xoxe- xoxp- xoxr- xoxs- xoxe.xoxb- xoxe.xoxp- xapp-', '[A-Za-z0-9-]{10,}'),
  {
    name: 'Slack webhook',
    begins: ['hooks.slack.com/'],
    source: String.raw`\bhooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9_]{6,}/[A-Za-z0-9_/]{16,}`,
    rest: String.raw`[\w/]*`,
  },
  {
    name: 'Discord webhook',
    begins: ['discord.com/api/webhooks/', 'discordapp.com/api/webhooks/'],
    source: String.raw`\bdiscord(?:app)?\.com/api/webhooks/\d{10,}/[\w-]{40,}`,
    rest: String.raw`[\w/-]*`,
  },
  {
    name: 'Discord token',
    begins: [],
    source: String.raw`\b[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}\b`,
  },
  {
    name: 'Telegram token',
    begins: [],
    source: String.raw`\b\d{8,10}:AA[A-Za-z0-9_-]{32,33}\b`,
  },
  { name: 'AWS key', begins: ['AKIA', 'ASIA'], source: String.raw`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b` },
  {
    name: 'AWS key',
    begins: [],
    source: String.raw`\b(?:aws_secret_access_key|AWS_SECRET_ACCESS_KEY|[sS]ecretAccessKey)["']?\s{0,4}[=:]\s{0,4}["']?[A-Za-z0-9/+]{40}`,
  },
  {
    name: 'Azure key',
    begins: ['AccountKey='],
    source: 'AccountKey=[A-Za-z0-9+/]{60,88}={0,2}',
    rest: '[A-Za-z0-9+/]*',
  },
  prefixed('Google key', 'AIza', '[A-Za-z0-9_-]{30,}'),
  prefixed('Google token', 'ya29.', '[A-Za-z0-9_-]{20,}'),
  prefixed('Google client secret', 'GOCSPX-', '[A-Za-z0-9_-]{20,}'),
  prefixed('npm token', 'npm_', '[A-Za-z0-9]{30,}'),
  prefixed('PyPI token', 'pypi-', '[A-Za-z0-9_-]{50,}'),
  prefixed('RubyGems token', 'rubygems_', '[a-f0-9]{40,}'),
  prefixed('Docker token', 'dckr_pat_ dckr_oat_', '[A-Za-z0-9_-]{20,}'),
  prefixed('Hugging Face token', 'hf_', '[A-Za-z0-9]{30,}'),
  prefixed('Groq key', 'gsk_', '[A-Za-z0-9]{40,}'),
  prefixed('Replicate token', 'r8_', '[A-Za-z0-9]{36,}'),
  prefixed('xAI key', 'xai-', '[A-Za-z0-9]{60,}'),
  prefixed('Perplexity key', 'pplx-', '[A-Za-z0-9]{40,}'),
  prefixed('DigitalOcean token', 'dop_v1_ doo_v1_ dor_v1_', '[a-f0-9]{40,}'),
  prefixed('SendGrid key', 'SG.', String.raw`[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`),
  prefixed('Mailgun key', 'key-', String.raw`[a-f0-9]{32}\b`),
  prefixed('Twilio key', 'SK', String.raw`[a-f0-9]{32}\b`),
  prefixed('Shopify token', 'shpat_ shpss_ shpca_ shppa_', '[A-Fa-f0-9]{32}'),
  prefixed('Square token', 'sq0atp- sq0csp- EAAA', '[A-Za-z0-9_-]{22,}'),
  prefixed('Sentry token', 'sntrys_ sntryu_', '[A-Za-z0-9+/=_-]{40,}'),
  prefixed('Databricks token', 'dapi', '[a-f0-9]{32}'),
  prefixed('Vault token', 'hvs. hvb. hvr.', '[A-Za-z0-9_-]{20,}'),
  prefixed('Terraform token', 'atlasv1.', '[A-Za-z0-9_-]{40,}'),
  prefixed('Linear key', 'lin_api_ lin_oauth_', '[A-Za-z0-9]{30,}'),
  prefixed('Postman key', 'PMAK-', '[A-Za-z0-9-]{40,}'),
  prefixed('Heroku key', 'HRKU-', '[A-Za-z0-9_-]{30,}'),
  prefixed('Notion token', 'ntn_', '[A-Za-z0-9]{40,}'),
  prefixed('Notion token', 'secret_', String.raw`[A-Za-z0-9]{43}\b`),
  prefixed('Stripe webhook secret', 'whsec_', '[A-Za-z0-9+/=]{24,}'),
  prefixed('Airtable token', 'pat', String.raw`[A-Za-z0-9]{14}\.[a-f0-9]{64}\b`),
  { name: 'Asana token', begins: [], source: String.raw`\b[12]/\d{12,20}(?:/\d{12,20})?:[a-f0-9]{32}\b` },
  prefixed('Brevo key', 'xkeysib-', '[a-f0-9]{64}-[A-Za-z0-9]{16}'),
  { name: 'Mailchimp key', begins: [], source: String.raw`\b[a-f0-9]{32}-us\d{1,2}\b` },
  prefixed('Sonar token', 'sqp_ squ_ sqa_', '[a-f0-9]{40}'),
  prefixed('JFrog key', 'AKCp', '[A-Za-z0-9]{60,}'),
  prefixed('Alibaba key', 'LTAI', String.raw`[A-Za-z0-9]{12,26}\b`),
  prefixed('Tencent key', 'AKID', String.raw`[A-Za-z0-9]{32}\b`),
  prefixed('Dynatrace token', 'dt0c01. dt0s16.', String.raw`[A-Z0-9]{24}\.[A-Z0-9]{64}`),
  prefixed('Netlify token', 'nfp_', '[A-Za-z0-9]{36}'),
  prefixed('Contentful token', 'CFPAT-', '[A-Za-z0-9_-]{43}'),
  prefixed('Buildkite token', 'bkua_', '[a-f0-9]{40}'),
  prefixed('LaunchDarkly key', 'sdk-', UUID),
  prefixed('Fly token', 'fo1_ fm1_ fm2_ fm1r_ fm2r_', '[A-Za-z0-9+/_=-]{40,}'),
  prefixed('NuGet key', 'oy2', String.raw`[a-z0-9]{43}\b`),
  prefixed('Mapbox token', 'sk.eyJ', String.raw`[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}`),
  prefixed('Vercel token', 'vcp_ vci_ vca_ vcr_ vck_ vercel_blob_rw_', '[A-Za-z0-9_]{24,}'),
  {
    name: 'Okta token',
    begins: ['SSWS '],
    source: String.raw`\bSSWS {1,4}[A-Za-z0-9_-]{30,}`,
    rest: String.raw`[\w-]*`,
  },
  {
    name: 'Google refresh token',
    begins: ['1//0'],
    source: String.raw`\b1//0[A-Za-z0-9_-]{30,}`,
    rest: String.raw`[\w-]*`,
  },
  {
    name: 'Azure signature',
    begins: ['sig='],
    source: String.raw`\bsig=(?:[A-Za-z0-9+/]|%2[BbFf]){42,44}(?:=|%3[Dd])`,
    rest: '[A-Za-z0-9+/%]*',
  },
  prefixed('Cloudflare token', 'v1.0-', '[a-f0-9]{24}-[a-f0-9]{146}'),
  prefixed('Cloudflare token', 'cfut_ cfat_', '[A-Za-z0-9]{40,}'),
  {
    name: 'Teams webhook',
    begins: ['webhook.office.com/webhookb2/', 'outlook.office.com/webhook/'],
    source: String.raw`\b(?:webhook\.office\.com/webhookb2|outlook\.office\.com/webhook)/[a-f0-9-]{36}@[a-f0-9-]{36}/IncomingWebhook/[a-f0-9]{32}`,
    rest: String.raw`[\w@/-]*`,
  },
  {
    name: 'Zapier webhook',
    begins: ['hooks.zapier.com/'],
    source: String.raw`\bhooks\.zapier\.com/hooks/catch/\d{4,}/[a-z0-9]{6,}`,
    rest: String.raw`[\w/]*`,
  },
  prefixed('Atlassian token', 'ATATT3 ATCTT3', '[A-Za-z0-9_=-]{50,}'),
  prefixed('Figma token', 'figd_', '[A-Za-z0-9_-]{36,}'),
  prefixed('Grafana token', 'glsa_ glc_', '[A-Za-z0-9_+/=]{32,}'),
  prefixed('New Relic key', 'NRAK-', '[A-Z0-9]{27}'),
  prefixed('Doppler token', 'dp.pt. dp.st. dp.ct.', '[A-Za-z0-9._-]{40,}'),
  prefixed('Supabase token', 'sbp_', '[a-f0-9]{40}'),
  prefixed('PlanetScale password', 'pscale_pw_ pscale_tkn_', '[A-Za-z0-9_.=-]{30,}'),
  prefixed('Tailscale key', 'tskey-', '[a-z]{3,9}-[A-Za-z0-9]{8,}-[A-Za-z0-9]{16,}'),
  prefixed('CircleCI token', 'CCIPAT_', '[A-Za-z0-9_]{40,}'),
  prefixed('Pulumi token', 'pul-', '[a-f0-9]{40}'),
  prefixed('age key', 'AGE-SECRET-KEY-', '[A-Z0-9]{40,}'),
  { name: CONNECTION_STRING, begins: WITH_PASSWORD, ...connection(WITH_PASSWORD) },
  { name: 'token', begins: ['eyJ'], source: JWT },
];

function connection(schemes: readonly string[]): Pick<SecretShape, 'source' | 'rest'> {
  const any = schemes.map((scheme) => scheme.replaceAll('+', String.raw`\+`)).join('|');
  return { source: String.raw`\b(?:${any})[^\s:/@"'<>]{0,64}:[^\s/@"'<>]{3,200}@`, rest: String.raw`[^\s/@]*` };
}
