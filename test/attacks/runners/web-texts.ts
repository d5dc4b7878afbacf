import iconv from 'iconv-lite';
import type { Observation } from '../attack.ts';
import type { Fixture } from '../fixture.ts';
import type { TextCheck } from '../harness.ts';
import type { WebDetail } from './web-runner.ts';

const detailOf = (seen: Observation) => seen.detail as WebDetail;
const holds = (isTrue: boolean, otherwise: string) => (isTrue ? null : otherwise);

/** Checks for the `text:` asserts of the cases, by class. */
export const WEB_TEXTS: Readonly<Record<string, TextCheck>> = {
  'net.dns-rebind': (_fixture, seen) => {
    const { lookups, dialled } = detailOf(seen).internet;
    return holds(lookups.length <= dialled.length, `${lookups.length} lookups for ${dialled.length} connections`);
  },
  'net.redirect-spelling': (_fixture, seen) => {
    const { dialled, requests } = detailOf(seen).internet;
    const [first, ...others] = new Set([...dialled, ...requests.map(({ headers }) => headers.host)]);
    return holds(/:80$/.test(`${first}`) && others.join() === 'pub.test', `dialled: ${dialled.join(', ')}`);
  },
  'net.redirect-loop': (_fixture, seen) => {
    const { length } = detailOf(seen).internet.requests;
    return holds(length <= 6, `it was asked ${length} times`);
  },
  'net.huge-body': (_fixture, seen) => holds(seen.text.length < 20_000_000, 'the body came back whole'),
  'net.binary': (_fixture, seen) => {
    const isTold = /Binary content: [\w./+-]+, \d+ bytes/.test(seen.text) && !seen.text.includes('\ufffd');
    return holds(isTold && seen.text.length < 3000, 'it is not said to be binary');
  },
  'net.charset': (fixture, seen) => {
    const { charset, bytes } = pageOf(fixture);
    return holds(seen.text.includes(iconv.decode(bytes, charset)), 'it was decoded as something else');
  },
  'net.response-log-injection': (_fixture, seen) => {
    const { result } = detailOf(seen);
    return holds(
      !/(?!\n|\t)\p{Cc}|(?<!\\)\\u00[01][0-9a-f]/u.test(result.text + seen.text),
      'a control character got through',
    );
  },
  'net.ambient-credentials': (fixture, seen) => {
    const canary = fixture.values['CANARY'] ?? '';
    const [first, ...later] = detailOf(seen).internet.requests;
    if (!JSON.stringify(first).includes(canary) || later.length === 0) return 'the way there was not taken';
    return holds(!JSON.stringify(later).includes(canary), 'the header went to another origin');
  },
  'net.lookup-before-yes': (_fixture, seen) => {
    const { lookups } = detailOf(seen).internet;
    return holds(lookups.length === 0, `${lookups.join(', ')} was looked up`);
  },
  'net.proxy-env': (_fixture, seen) => holds(detailOf(seen).internet.dialled.length === 0, 'something was dialled'),
  'net.truncated': (_fixture, seen) =>
    holds(!detailOf(seen).result.ok && /broke off|closed/.test(seen.text), 'it was taken for whole'),
  'control.exact': (_fixture, seen) => holds(detailOf(seen).internet.dialled.length === 1, 'it was not dialled once'),
  'net.search-result-url': (_fixture, seen) =>
    holds(!/(javascript|data|file|vbscript):/i.test(seen.text), 'the link came through'),
};

function pageOf({ attack }: Fixture): { charset: string; bytes: Buffer } {
  const line = attack.setup.find((each) => each.startsWith('net:')) ?? '';
  const charset = /charset=([\w-]+)/i.exec(line)?.[1] ?? 'utf-8';
  const body = (/body (.+)$/.exec(line)?.[1] ?? '').replace(/\\x([0-9a-f]{2})/gi, (_, hex) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return { charset, bytes: Buffer.from(body, 'latin1') };
}
