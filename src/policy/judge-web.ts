import type { Access, HostPatterns } from '../kernel/tool/access.ts';
import type { UrlJudge } from '../kernel/world/web.ts';
import type { AccessJudgement } from './access-judgement.ts';
import type { Rule } from './rules/rule.ts';

type FetchUse = Extract<Access, { kind: 'net.fetch' }>;

/** Judges by the URLs that are never fetched, then by the user's rules, then by the allowed hosts; any other URL needs approval. */
export function judgeUrl(access: FetchUse, rules: readonly Rule[], urls: UrlJudge | undefined): AccessJudgement {
  const about = { what: `${access.method} ${access.url}`, liftable: false, changes: access.method !== 'GET' };
  if (!URL.canParse(access.url)) {
    return { ...about, verdict: 'deny', rule: 'not a URL', reason: `${access.url.slice(0, 200)} is not a URL.` };
  }
  const url = new URL(access.url);
  const never = refusal(url, urls);
  if (never !== null) return { ...about, verdict: 'deny', rule: 'never fetched', reason: never };
  const ofHost = rules.filter((one) => one.matchesUrl(url));
  const rule = ofHost.find(({ method }) => method === null || method === access.method);
  if (rule !== undefined) {
    return { ...about, verdict: rule.verdict, rule: rule.text, reason: `The rule ${rule.text} says so.` };
  }
  if (urls?.isAllowed(url)) {
    return { ...about, verdict: 'allow', rule: 'allowedHosts', reason: `${url.host} is on the list of allowed hosts.` };
  }
  const reason = ofHost.some(({ verdict }) => verdict === 'allow')
    ? `A rule allows ${url.host} for another method than ${access.method}.`
    : `${url.host} is not on the list of allowed hosts.`;
  return { ...about, verdict: 'ask', rule: 'not listed', reason };
}

/** A search reveals only its words, and only to the provider that the user chose. */
export function judgeSearch(access: Extract<Access, { kind: 'net.search' }>, rules: readonly Rule[]): AccessJudgement {
  const about = { what: `search ${access.query}`, liftable: false, changes: false };
  const rule = rules.find(({ whole }) => whole);
  if (rule === undefined) {
    return { ...about, verdict: 'allow', rule: 'searching', reason: 'Searching the web is allowed.' };
  }
  return { ...about, verdict: rule.verdict, rule: rule.text, reason: `The rule ${rule.text} says so.` };
}

/**
 * The hosts a redirect may lead to: those that the call could have fetched without approval. After a redirect a POST is sent
 * again or becomes a GET, as the server says: rules about either hold it back.
 */
export function grantedRedirects(
  { method }: Pick<FetchUse, 'method'>,
  rules: readonly Rule[],
  urls: UrlJudge | undefined,
): HostPatterns {
  const hostsOf = (wanted: (rule: Rule) => boolean) =>
    rules.filter(wanted).flatMap(({ hosts }) => (hosts === null ? [] : [hosts]));
  const isAbout = (rule: Rule) => rule.method === null || rule.method === method;
  return {
    to: [...hostsOf((rule) => rule.verdict === 'allow' && isAbout(rule)), ...(urls?.allowedHosts ?? [])],
    notTo: hostsOf((rule) => rule.verdict !== 'allow' && (isAbout(rule) || rule.method === 'GET')),
  };
}

function refusal(url: URL, urls: UrlJudge | undefined): string | null {
  const checked = urls?.check(url.href);
  if (checked !== undefined && !checked.ok) return checked.error.message;
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'Only http and https are fetched.';
  if (url.username !== '' || url.password !== '') return 'A URL with a user name or password is not fetched.';
  return null;
}
