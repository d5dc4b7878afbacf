import { COMMAND_FLOW, DATA_FLOW, NO_FLOW } from '../kernel/call/session-flow.ts';
import type { Subject } from '../kernel/ports.ts';
import type { Access } from '../kernel/tool/access.ts';
import type { AccessJudgement, JudgedAccess } from './access-judgement.ts';
import type { PolicyOptions } from './policy-options.ts';
import type { Rule } from './rules/rule.ts';

/** A way in which a call would send data out. */
interface Destination {
  readonly what: string;
  readonly name: string;
  /** A yes to one of these in this session is a yes to it. Left out: each call is asked about. */
  readonly agreedBy?: readonly string[];
  /** The call reads the workspace itself. */
  readonly reads?: string;
}

/**
 * Returns a question for each destination of a call that would send something out of a session with private data and untrusted
 * text in it: that text may have told the model to send the data. No rule and no mode answers it.
 */
export function judgeFlow(
  subject: Subject,
  judged: readonly JudgedAccess[],
  options: PolicyOptions,
): readonly AccessJudgement[] {
  const { private: read, untrusted, agreed } = subject.flow ?? NO_FLOW;
  if (options.dataFlow === 'off' || untrusted.length === 0) return [];
  return destinationsOf(subject, judged, options).flatMap(({ what, name, agreedBy, reads }) => {
    const sources = read.length === 0 && reads !== undefined ? [reads] : read;
    if (sources.length === 0 || agreedBy?.some((each) => agreed.includes(each))) return [];
    const reason = `It would send to ${name}; the session has read ${sources.join(', ')} and got text from ${untrusted.join(', ')}.`;
    return [
      { what, verdict: 'ask', rule: agreedBy ? DATA_FLOW : COMMAND_FLOW, reason, liftable: false, changes: false },
    ];
  });
}

/** Takes the network from commands that do not need it by their words, where nobody is asked and a command that does would be. */
export function withoutIdleNetwork(subject: Subject, judged: JudgedAccess, options: PolicyOptions): JudgedAccess {
  const { access } = judged;
  if (access.kind !== 'process.run' || !access.network || judged.isOutside || options.effects === 'live') return judged;
  const probe = { ...judged, isOutside: true } as const;
  if (judgeFlow(subject, [probe], options).length === 0) return judged;
  const { network: _, ...offline } = access;
  return { ...judged, access: offline };
}

const OWN_READING = 'the workspace (this command)';

function destinationsOf(
  { tool, access, sends = access.some(({ kind }) => kind === 'unknown') }: Subject,
  judged: readonly JudgedAccess[],
  { rules, urls }: PolicyOptions,
): Destination[] {
  const own = rules.filter((rule) => rule.tool === tool);
  const found = judged.flatMap((each): Destination[] => {
    if (each.access.kind === 'net.fetch') return pageDestination(each.access, own, urls);
    if (each.access.kind !== 'process.run' || !each.access.network) return [];
    // A yes to any question about a command gives it the network.
    const isUsed = each.isOutside || each.parts.some(({ verdict }) => verdict === 'ask');
    return isUsed ? [{ what: 'send over the network', name: 'the network', reads: OWN_READING }] : [];
  });
  const what = `send with ${tool}`;
  if (sends) found.push({ what, name: `wherever ${tool} leads`, agreedBy: [what] });
  return found;
}

/** Fetching a page sends its URL. A rule or a setting that names the host has agreed to that, and never to a POST. */
function pageDestination(
  { url: text, method }: Extract<Access, { kind: 'net.fetch' }>,
  rules: readonly Rule[],
  urls: PolicyOptions['urls'],
): Destination[] {
  if (!URL.canParse(text)) return [];
  const url = new URL(text);
  const isAgreed = urls?.isAllowed(url) || rules.some((rule) => namesHost(rule) && rule.matchesUrl(url));
  if (method === 'GET' && isAgreed) return [];
  const [get, post] = [`send to ${url.host}`, `post to ${url.host}`];
  if (method === 'POST') return [{ what: post, name: url.host, agreedBy: [post] }];
  return [{ what: get, name: url.host, agreedBy: [get, post] }];
}

/** A rule for every host names none. */
function namesHost({ verdict, hosts, whole }: Rule): boolean {
  return verdict === 'allow' && hosts !== null && hosts !== '*' && !whole;
}
