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
    source: String.raw`\b(?:sk|pk|rk)${HAS_DIGIT}[-_][A-Za-z0-9_-]{16,}`,
  },
  prefixed('GitHub token', 'ghp_ gho_ ghu_ ghs_ ghr_', '[A-Za-z0-9]{20,}'),
  prefixed('GitHub token', 'github_pat_', '[A-Za-z0-9_]{20,}'),
  prefixed('GitLab token', 'glpat- glptt- gldt- glrt- glcbt- glsoat-', '[A-Za-z0-9_.-]{16,}'),
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
