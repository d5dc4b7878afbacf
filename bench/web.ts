import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createWeb } from '../src/net/create-web.ts';
import { htmlToMarkdown } from '../src/tools/web/html/html-to-markdown.ts';
import { missesOf, readPages } from '../test/web-pages/score.ts';
import { atMost, type Benchmark, type Measurement, median, timesLess } from './benchmark.ts';
import { largePages } from './programs/web.pages.ts';
import { peerMarkdown } from './programs/web.peer.ts';

const ROUNDS = 3;
const FETCHES = 300;

export const benchmark: Benchmark = {
  about:
    'Pages made readable, against Readability and Turndown on a DOM (linkedom); and what the guard adds to a fetch.',
  run: async () => [...(await conversions()), await quality(), memory(), await overhead()],
};

async function conversions(): Promise<Measurement[]> {
  const measured: Measurement[] = [];
  for (const [name, html] of Object.entries(largePages(1_000_000))) {
    const [ours, peer]: [number[], number[]] = [[], []];
    for (let round = -1; round < ROUNDS; round++) {
      const start = performance.now();
      await htmlToMarkdown(html, { url: 'https://bench.test/', style: 'markdown' });
      const middle = performance.now();
      peerMarkdown(html, 'https://bench.test/');
      if (round < 0) continue;
      ours.push(middle - start);
      peer.push(performance.now() - middle);
    }
    measured.push(timesLess(`1 MB of ${name}, HTML to markdown`, median(ours), median(peer), 'ms', 3));
  }
  return measured;
}

/** The share of what was written down beforehand, over all pages. */
async function quality(): Promise<Measurement> {
  const pages = readPages();
  const [ours, peer, asked] = [{ missed: 0 }, { missed: 0 }, { total: 0 }];
  for (const { html, expected } of pages) {
    const { text } = await htmlToMarkdown(html, { url: expected.url, style: 'markdown' });
    const mine = missesOf(text, expected);
    ours.missed += mine.missed.length;
    asked.total += mine.asked;
    peer.missed += missesOf(peerMarkdown(html, expected.url), expected).missed.length;
  }
  const score = (missed: number) => (100 * (asked.total - missed)) / asked.total;
  const [us, them] = [score(ours.missed), score(peer.missed)];
  const what = `${asked.total} headings, links, rows, code blocks and words of ${pages.length} pages`;
  return { what, ours: us, peer: them, unit: '%', ratio: us / them, goal: 'at least the peer', met: us >= them };
}

function memory(): Measurement {
  const script = join(import.meta.dirname, 'programs/web.memory.ts');
  const printed = execFileSync(process.execPath, ['--expose-gc', '--import', 'tsx', script], { encoding: 'utf8' });
  const { grown, page } = JSON.parse(printed) as { grown: number; page: number };
  return atMost('memory at its peak, as a multiple of a 5 MB page', grown / page, '×', 10);
}

/** Both over a new connection to the same server, in turns. */
async function overhead(): Promise<Measurement> {
  const server = createServer((_request, response) => {
    response
      .writeHead(200, { 'content-type': 'text/html', 'cache-control': 'no-store' })
      .end('<p>hello</p>'.repeat(100));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/`;
  const admitted = [{ kind: 'net.fetch', url, method: 'GET' }] as const;
  const { signal } = new AbortController();
  const caller = { callId: 'c', session: 's', workingDir: '/', timeout: 120, signal, admitted };
  const web = createWeb({ privateHosts: [`127.0.0.1:${port}`] }).open(caller);
  const [ours, plain]: [number[], number[]] = [[], []];
  for (let round = -20; round < FETCHES; round++) {
    const start = performance.now();
    const result = await web.fetch({ url, method: 'GET', timeoutMs: 30_000, maxBytes: 5_000_000 });
    if (!result.ok) throw new Error(result.error.message);
    const middle = performance.now();
    await (await fetch(url)).arrayBuffer();
    if (round < 0) continue;
    ours.push(middle - start);
    plain.push(performance.now() - middle);
  }
  server.close();
  const added = median(ours) - median(plain);
  return {
    ...atMost('what the guard adds to a fetch on loopback (peer: a plain fetch)', added, 'ms', 2),
    peer: median(plain),
  };
}
