import { messageOf } from '../../kernel/error.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { Web, WebSearchAnswer, WebSearchHit } from '../../kernel/world/web.ts';
import type { HostDialer } from '../dialer.ts';
import type { HttpExchange } from '../exchange.ts';
import { normalHost } from '../hosts.ts';
import { LOOPBACK, ownAddresses, portOf } from '../url-guard.ts';
import { brave } from './brave.ts';
import { exa } from './exa.ts';
import type { RawHit, SearchProvider } from './provider.ts';
import { searxng } from './searxng.ts';
import type { SearchSettings } from './settings.ts';
import { tavily } from './tavily.ts';

type Query = Parameters<Web['search']>[0];

const TIMEOUT_MS = 20_000;
const MAX_BYTES = 2 * 1024 * 1024;
const MAX_TITLE_CHARS = 300;
const MAX_SNIPPET_CHARS = 1000;

/** Searches with the first configured provider. No redirect is followed, so that the key goes nowhere else. */
export function createSearch(settings: SearchSettings, dialer: HostDialer) {
  return async function search(query: Query, cancelled: AbortSignal): Promise<Result<WebSearchAnswer>> {
    const provider = choose(settings, query);
    if (provider === undefined) return notConfigured();
    const { exchange } = await import('../exchange.ts');
    const deadline = AbortSignal.timeout(TIMEOUT_MS);
    try {
      const signal = AbortSignal.any([deadline, cancelled]);
      const request = { body: undefined, ...provider.request, maxBytes: MAX_BYTES, signal };
      // The user configured this address, which allows it for this request alone.
      const listed = [...ownAddresses(normalHost(request.url.hostname)), ...LOOPBACK];
      const answer = await exchange((url) => dialer.dialHost(target(url), listed, signal), request);
      return answer.ok ? readAnswer(provider, answer.value, query.limit) : withProviderName(provider, answer);
    } catch (error) {
      if (cancelled.aborted) return fail('CANCELLED', 'The search was cancelled.');
      if (!deadline.aborted) return fail('NETWORK_ERROR', `${provider.name} failed: ${messageOf(error)}.`);
      return fail('TIMEOUT', `${provider.name} did not answer within ${TIMEOUT_MS / 1000} s. Try again.`);
    }
  };
}

function choose(settings: SearchSettings, { query, limit }: Query): SearchProvider | undefined {
  if (settings.brave !== undefined) return brave(settings.brave, query, limit);
  if (settings.tavily !== undefined) return tavily(settings.tavily, query, limit);
  if (settings.exa !== undefined) return exa(settings.exa, query, limit);
  if (settings.searxng !== undefined) return searxng(settings.searxng, query);
  return undefined;
}

function notConfigured(): Result<never> {
  const how = 'BRAVE_API_KEY, TAVILY_API_KEY or EXA_API_KEY to a key of that provider, or SEARXNG_URL to your instance';
  return fail('NOT_CONFIGURED', `No search provider is configured. The user can set ${how}, and restart.`);
}

function target(url: URL): { host: string; port: number } {
  return { host: url.hostname, port: portOf(url) };
}

function withProviderName({ name }: SearchProvider, failure: Extract<Result<never>, { ok: false }>): Result<never> {
  return { ok: false, error: { ...failure.error, message: `${name}: ${failure.error.message}` } };
}

function readAnswer(
  provider: SearchProvider,
  { status, headers, bytes }: HttpExchange,
  limit: number,
): Result<WebSearchAnswer> {
  const { name, variable } = provider;
  if (status === 429) return busy(name, headers['retry-after']);
  if (status >= 300) return refused(provider, status, Buffer.from(bytes).toString('utf8'));
  const raw = provider.hits(parse(bytes));
  if (raw === undefined) {
    return fail('NETWORK_ERROR', `${name} answered in an unknown format. Check ${variable}, or try again.`);
  }
  return ok({ provider: name, hits: raw.flatMap(toHit).slice(0, limit) });
}

function busy(name: string, retryAfter: string | undefined): Result<never> {
  const seconds = Number(retryAfter);
  const known = retryAfter !== undefined && Number.isFinite(seconds);
  const next = known ? `Search again in ${seconds} s.` : 'Search again in a while.';
  const what = `${name} allows no more searches at the moment (429).`;
  return fail('NETWORK_ERROR', `${what} ${next}`, { status: 429, ...(known && { retryAfter: seconds }) });
}

/** Explains a refusal without quoting the provider, whose text comes from the network and may repeat the key. */
function refused({ name, variable }: SearchProvider, status: number, answer: string): Result<never> {
  const isKey = status === 401 || status === 403 || /token_invalid|invalid.{0,20}(api.?key|token)/i.test(answer);
  if (isKey && variable === 'SEARXNG_URL') {
    const how = 'add json to search.formats in its settings.yml';
    return fail('NOT_CONFIGURED', `${name} does not answer in JSON (${status}): ${how}.`, { status });
  }
  if (isKey) {
    return fail('NOT_CONFIGURED', `${name} does not accept the key (${status}): the user has to check ${variable}.`, {
      status,
    });
  }
  const isQuota = status === 402 || status === 432 || status === 433;
  if (isQuota) return fail('NOT_CONFIGURED', `${name}: the plan of ${variable} is used up (${status}).`, { status });
  return fail('NETWORK_ERROR', `${name} answered with status ${status}. Try again, or search for something else.`, {
    status,
  });
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Keeps only links to pages: a javascript: or file: link is no result. */
function toHit({ title, url, snippet }: RawHit): WebSearchHit[] {
  if (typeof url !== 'string' || !URL.canParse(url)) return [];
  const { protocol, href } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:') return [];
  return [{ title: plain(title, MAX_TITLE_CHARS) || href, url: href, snippet: plain(snippet, MAX_SNIPPET_CHARS) }];
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", '#x27': "'" };

function plain(text: unknown, longest: number): string {
  if (typeof text !== 'string') return '';
  const bare = text
    .slice(0, longest * 4)
    .replace(/<\/?[a-z][^<>]*>/gi, '')
    .replace(/&(amp|lt|gt|quot|#39|#x27);/gi, (whole, name: string) => ENTITIES[name.toLowerCase()] ?? whole)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return bare.length > longest ? `${bare.slice(0, longest)}…` : bare;
}
