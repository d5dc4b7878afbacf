import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { SANDBOX_KINDS, type SandboxKind } from '../../kernel/world/sandbox.ts';
import { malformedHost } from '../../net/hosts.ts';
import { malformedPrivateHost } from '../../net/url-guard.ts';
import { addTo, hideMore, lower, neverFromWorkspace, oneOf, onlyProposes, subsetOf, type Tighten } from './tighten.ts';

/** One setting: its schema, default, purpose, and how a workspace may change it. */
export interface Setting<T = unknown> {
  readonly schema: z.ZodType<T>;
  readonly fallback: T;
  readonly about: string;
  /** How the workspace file may change it: never to more than the user allowed. */
  readonly tighten: Tighten<T>;
}

function setting<T>(schema: z.ZodType<T>, fallback: NoInfer<T>, about: string, tighten: Tighten<NoInfer<T>>) {
  return {
    schema: schema.meta({ description: about, default: fallback }),
    fallback,
    about,
    tighten,
  } satisfies Setting<T>;
}

const names = z.array(z.string().min(1));
const ISOLATING = SANDBOX_KINDS.filter((kind) => kind !== 'none');
const HOST = 'a host is written example.org, *.example.org or example.org:8443';

const protocol = z.enum(['auto', '2025', '2026']).describe('The revision to speak. Left out: what fits the transport.');

const server = z.union([
  z.strictObject({
    command: z.string().min(1),
    args: z.array(z.string()).optional(),
    env: z.record(z.string(), z.string()).optional(),
    cwd: z.string().min(1).optional(),
    protocol: protocol.optional(),
  }),
  z.strictObject({
    url: z.url({ protocol: /^https?$/ }),
    headers: z.record(z.string(), z.string()).optional(),
    protocol: protocol.optional(),
  }),
]);

/**
 * All settings. The environment variable follows from the name: `commandTimeout` is TOOLWRIGHT_COMMAND_TIMEOUT. A new
 * setting does not compile before it declares how a workspace may change it.
 */
export const SETTINGS = {
  mode: setting(
    z.enum(['plan', 'ask', 'auto', 'strict']),
    'ask',
    'plan: read only. ask: a person is asked. auto: few questions inside the sandbox. strict: reads, new files and what is listed; the rest is refused.',
    oneOf({ auto: ['ask', 'plan', 'strict'], ask: ['plan', 'strict'], plan: [], strict: [] }),
  ),
  allow: setting(names, [], 'Rules for calls that run unasked, such as bash(npm test *).', neverFromWorkspace),
  ask: setting(names, [], 'Rules for calls that a person is asked about.', addTo),
  deny: setting(names, [], 'Rules for calls that are refused.', addTo),
  sensitiveFiles: setting(
    z.array(z.string().regex(/^!?[^!]/, 'it must be a pattern such as *.secret, or one to lift such as !.env.test')),
    [],
    'Patterns of files that nothing may read, beside the built-in ones. One behind ! is taken off the built-in ones.',
    hideMore,
  ),
  disabledTools: setting(names, [], 'Tools that are not offered and do not run.', addTo),
  toolset: setting(z.string().min(1), 'full', 'Which tools are offered, under which names.', neverFromWorkspace),
  sandbox: setting(
    z.enum(['auto', ...SANDBOX_KINDS]),
    'auto',
    'What keeps commands in. none runs them unprotected.',
    oneOf<SandboxKind | 'auto'>({ none: ['auto', ...ISOLATING], auto: ISOLATING }),
  ),
  allowedHosts: setting(
    z.array(
      z
        .string()
        .min(1)
        .refine((entry) => malformedHost([entry]) === null, HOST),
    ),
    [],
    'Hosts that may be reached without a question: example.org, *.example.org, on ports 80 and 443; example.org:8443.',
    subsetOf,
  ),
  privateHosts: setting(
    z.array(
      z.string().refine((entry) => malformedPrivateHost([entry]) === null, `${HOST}, or an address or a range of them`),
    ),
    [],
    'Hosts, addresses and ranges that web tools may reach although they are not on the public internet.',
    subsetOf,
  ),
  dataFlow: setting(
    z.enum(['ask', 'off']),
    'ask',
    'Whether a person is asked before a session that has private data and untrusted text in it sends something out, in every mode and whatever the rules.',
    neverFromWorkspace,
  ),
  commandTimeout: setting(
    z.number().positive().max(600),
    120,
    'Seconds a command may take if the call does not say.',
    lower,
  ),
  outputLimit: setting(z.int().min(1000).max(1_000_000), 100_000, 'Characters of output that reach the model.', lower),
  approvalTimeout: setting(
    z.number().positive().nullable(),
    24 * 60 * 60,
    'Seconds a question waits for a person, by default a day. null waits as long as it takes.',
    lower,
  ),
  mcpApprovals: setting(
    z.enum(['any', 'destructive-inbox', 'inbox', 'client', 'nobody']),
    'any',
    "Whose answer counts when a call through MCP must be asked about: any, the client's form or our own inbox; destructive-inbox, only the inbox for what cannot be undone; inbox; client; nobody, it is refused.",
    neverFromWorkspace,
  ),
  mcpServers: setting(
    z.record(z.string().regex(/^[A-Za-z0-9_-]{1,32}$/, 'a server is named by 1 to 32 letters, digits, _ or -'), server),
    {},
    'MCP servers whose tools are offered beside ours: a command to start, or a url. A workspace can propose one; it is not started.',
    onlyProposes,
  ),
  stateDir: setting(
    z
      .string()
      .regex(/^\//, { error: ({ input }) => absoluteInstead(String(input)) })
      .nullable(),
    null,
    'Where the state is kept, as an absolute path. null: the usual place.',
    neverFromWorkspace,
  ),
  databaseUrl: setting(
    z
      .string()
      .regex(/^postgres(ql)?:\/\//, 'it must start with postgres://, or be null to keep the state in a file')
      .nullable(),
    null,
    'A PostgreSQL database to keep the state in, instead of a file.',
    neverFromWorkspace,
  ),
  retentionDays: setting(
    z.number().positive().nullable(),
    null,
    'How long finished calls are kept. null: for ever. toolwright start sees to it while it runs.',
    neverFromWorkspace,
  ),
  retentionMegabytes: setting(
    z.number().positive().nullable(),
    null,
    'How big the log may grow before the oldest calls go. null: without limit. toolwright start sees to it while it runs.',
    neverFromWorkspace,
  ),
  port: setting(z.int().min(0).max(65_535), 8665, 'The port of the web app, on loopback.', neverFromWorkspace),
  provider: setting(
    z.enum(['auto', 'anthropic', 'openai', 'openai-chat']),
    'auto',
    'How the model is spoken to: Anthropic Messages, OpenAI Responses, or the chat format of Ollama, vLLM, DeepSeek and others. auto: with modelBaseUrl the chat format, else by the key that is there.',
    neverFromWorkspace,
  ),
  model: setting(
    z.string().min(1).nullable(),
    null,
    "The model's name. null: the provider's usual one.",
    neverFromWorkspace,
  ),
  modelBaseUrl: setting(
    z
      .url({ protocol: /^https?$/, error: 'it must be the address of an endpoint, such as http://localhost:11434/v1' })
      .nullable(),
    null,
    "Where the model is. null: the provider's own address.",
    neverFromWorkspace,
  ),
  modelKeyVariable: setting(
    z.string().min(1).nullable(),
    null,
    'The environment variable that holds the key. null: ANTHROPIC_API_KEY or OPENAI_API_KEY.',
    neverFromWorkspace,
  ),
  modelHeaders: setting(
    z.array(z.string().regex(/^[\w-]+: .+$/, 'it must look like Name: value')),
    [],
    'Headers that the model is sent besides, each as Name: value. Not to a provider that only a kept key points to.',
    neverFromWorkspace,
  ),
  modelOptions: setting(
    z.record(z.string(), z.unknown()),
    {},
    "Fields of the provider's own that go into each request, such as thinking.",
    neverFromWorkspace,
  ),
  modelWindow: setting(z.int().min(4000), 200_000, 'Tokens that fit into a conversation with the model.', lower),
  modelMaxTokens: setting(z.int().min(100), 16_000, 'Tokens of one answer of the model.', lower),
  modelPrice: setting(
    z
      .strictObject({
        input: z.number().min(0),
        output: z.number().min(0),
        cacheRead: z.number().min(0).optional(),
        cacheWrite: z.number().min(0).optional(),
      })
      .nullable(),
    null,
    'What a million tokens cost, so that runs can be counted in money.',
    neverFromWorkspace,
  ),
  maxTurns: setting(z.int().min(1), 100, 'Turns of the model in one run.', lower),
  maxTokens: setting(z.number().positive().nullable(), null, 'Tokens that one run may use.', lower),
  maxCost: setting(z.number().positive().nullable(), null, 'What one run may cost, counted with modelPrice.', lower),
  maxMinutes: setting(z.number().positive().nullable(), null, 'Minutes that one run may take.', lower),
  host: setting(
    z.string().min(1),
    '127.0.0.1',
    'The address the server listens on. Another than loopback needs tokens of people, and TLS or publicUrl.',
    neverFromWorkspace,
  ),
  publicUrl: setting(
    z
      .url({ protocol: /^https$/, error: 'it must start with https://, as a proxy of yours serves it, or be null' })
      .nullable(),
    null,
    'Where people reach the server through a proxy of yours that has TLS, such as https://tools.example.org.',
    neverFromWorkspace,
  ),
  tlsCert: setting(
    z.string().min(1).nullable(),
    null,
    'A file with the certificate of the server.',
    neverFromWorkspace,
  ),
  tlsKey: setting(z.string().min(1).nullable(), null, 'A file with the key of that certificate.', neverFromWorkspace),
  streamsPerToken: setting(
    z.int().min(1).max(100_000),
    64,
    'Streams of events that one token may have open at once.',
    neverFromWorkspace,
  ),
  logLevel: setting(
    z.enum(['silent', 'error', 'warn', 'info', 'debug']),
    'warn',
    'How much is logged, on the error stream. A single command logs only if a level is chosen.',
    neverFromWorkspace,
  ),
} as const;

export type SettingName = keyof typeof SETTINGS;

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

export type Config = { readonly [K in SettingName]: z.output<(typeof SETTINGS)[K]['schema']> };

export type PartialConfig = { readonly [K in SettingName]?: Config[K] };

/** The only field of a file that is not a setting. */
export const schemaField = z.string().describe('Where editors find this schema.');

/** The schema of a whole file; docs/config.schema.json is generated from it, for editors. */
export const fileSchema = z
  .strictObject({
    $schema: schemaField,
    ...Object.fromEntries(SETTING_NAMES.map((name) => [name, SETTINGS[name].schema])),
  })
  .partial()
  .meta({ title: 'Toolwright configuration' });

/** A file has no working directory and no shell to expand ~, so neither is guessed. */
function absoluteInstead(path: string): string {
  const instead = path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : undefined;
  return `it must be an absolute path, ${instead === undefined ? 'such as /var/lib/toolwright' : `here ${instead}`}, or null for the usual place`;
}

/** `commandTimeout` → `TOOLWRIGHT_COMMAND_TIMEOUT`. */
export function variableOf(name: SettingName): string {
  return `TOOLWRIGHT_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`;
}
