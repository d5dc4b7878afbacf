// Starts the server of src/ on loopback, makes one call several times, and prints as JSON the functions of src/ that ran in
// every one of them. It needs a Node that strips types itself: types are replaced by spaces, so the positions in V8's
// coverage are those of the source.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { mock } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type StartedServer, startServer } from '../src/app/start-server.ts';
import { countLines, type FunctionSpan } from './walk/count-lines.ts';
import { MEASURED_CALLS, type MeasuredFile } from './walk/measured-file.ts';

interface ScriptCoverage {
  readonly url: string;
  readonly functions: readonly FunctionCoverage[];
}

interface FunctionCoverage {
  readonly functionName: string;
  readonly ranges: readonly { readonly startOffset: number; readonly endOffset: number; readonly count: number }[];
}

const ROOT = join(import.meta.dirname, '..');
const SOURCES = `${pathToFileURL(join(ROOT, 'src')).href}/`;

// No interval fires here: its work is not that of a call.
mock.timers.enable({ apis: ['setInterval'] });
const home = mkdtempSync(join(tmpdir(), 'walk-'));
try {
  const workspace = join(home, 'project');
  mkdirSync(workspace);
  writeFileSync(join(workspace, 'a.txt'), 'one\n');
  const env = { PATH: process.env.PATH ?? '' };
  const server = await startServer({ workspaces: [workspace], home, env, flags: { port: '0' } });
  if (!server.ok) throw new Error(server.error.message);
  console.log(JSON.stringify(toFiles(await measure(server.value))));
  await server.value.close();
} finally {
  rmSync(home, { recursive: true, force: true });
}

/** The coverage of each call, after a first one that loads modules and fills caches. */
async function measure(server: StartedServer): Promise<ScriptCoverage[][]> {
  await call(server);
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const runs: ScriptCoverage[][] = [];
  for (let at = 0; at < MEASURED_CALLS; at++) {
    // Work that is due by the clock is done by this call, not by the measured one.
    await call(server);
    // Taking the coverage sets every count to zero.
    await session.post('Profiler.takePreciseCoverage');
    await call(server);
    const { result } = await session.post('Profiler.takePreciseCoverage');
    runs.push(result.filter(({ url }) => url.startsWith(SOURCES)));
  }
  return runs;
}

async function call({ url, token }: StartedServer): Promise<void> {
  const response = await fetch(`${url}/v1/calls`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ tool: 'read_file', args: { path: 'a.txt' }, wait: true }),
  });
  const answer = await response.text();
  if (response.status !== 200) throw new Error(`The call was answered with ${response.status}: ${answer}`);
}

/** A function of work that follows an answer, or is done now and then, runs in some of the calls; one of the call in all. */
function toFiles(runs: readonly ScriptCoverage[][]): MeasuredFile[] {
  const spans = runs.map((run) => new Map(run.map(({ url, functions }) => [url, functions.flatMap(toSpan)])));
  const urls = [...(spans[0]?.keys() ?? [])].sort();
  return urls.flatMap((url) => {
    const each = spans.map((run) => run.get(url) ?? []);
    const ranEachTime = (span: FunctionSpan) =>
      each.every((run) => run.some((other) => other.ran && isSame(span, other)));
    const all = (each[0] ?? []).map((span) => ({ ...span, ran: ranEachTime(span) }));
    const ran = all.filter((span) => span.ran);
    const path = fileURLToPath(url);
    const lines = countLines(readFileSync(path, 'utf8'), all);
    return ran.length === 0 ? [] : [{ file: relative(ROOT, path), functions: ran.map(({ name }) => name), lines }];
  });
}

function toSpan({ functionName: name, ranges: [range] }: FunctionCoverage): FunctionSpan[] {
  // The range from 0 is the module itself.
  if (range === undefined || range.startOffset === 0) return [];
  return [{ name, start: range.startOffset, end: range.endOffset, ran: range.count > 0 }];
}

function isSame(one: FunctionSpan, other: FunctionSpan): boolean {
  return one.start === other.start && one.end === other.end && one.name === other.name;
}
