import { fail, ok, type Result } from '../../kernel/result.ts';
import type { GrepAnswer, GrepLine, GrepQuery } from '../../kernel/world/workspace.ts';
import { contentAt } from '../read/content-at.ts';
import { decodeAs, sniffEncoding } from '../read/decode-text.ts';
import { type Decoder, parseHits } from './grep-hits.ts';
import { hideSecretHits } from './hide-secret-hits.ts';
import { newestFirst } from './newest-first.ts';
import { type LinesOfFile, recheckLines } from './recheck-hits.ts';
import type { RipgrepRun } from './ripgrep.ts';
import { countIgnored, fileOptions, type Searcher, startOf, withoutDot, withSafeIgnores } from './search-scope.ts';

interface FileCount {
  readonly path: string;
  readonly count: number;
}

/** Up to so much output a search is done in one run. */
const ONE_RUN_BYTES = 4 * 1024 * 1024;
const HEAD_BYTES = 64 * 1024;

/**
 * Sorting by time inside ripgrep would make it search one file after the other, so files are sorted here. Usually one
 * run gives all matches. If those are too many, they are counted first, and only the newest files' lines are read.
 */
export async function grepFiles(searcher: Searcher, asked: GrepQuery): Promise<Result<GrepAnswer>> {
  const { root, rg } = searcher;
  const start = startOf(root, asked.path);
  if (!start.ok) return start;
  if ([asked.pattern, ...asked.include, ...asked.exclude].some((text) => text.includes('\0'))) {
    return fail('INVALID_INPUT', 'A pattern cannot hold the NUL character: write \\x00 to search for it.');
  }
  const negated = asked.include.find((glob) => glob.startsWith('!'));
  if (negated !== undefined) {
    return fail('INVALID_INPUT', `Put ${negated.slice(1)} into exclude instead of ! in include.`);
  }
  const { argument } = start.value;
  const query = await withSafeIgnores(searcher, asked, argument);
  const log = query.include.length > 0 ? [] : ['--debug'];
  const whole = [...pattern(query), ...files(query), ...log];
  const wantsLines = query.output === 'content';
  const all = wantsLines ? await rg.run([...whole, ...around(query), '--', argument], ONE_RUN_BYTES) : undefined;
  if (all?.ok === false) return all;
  const oneRun = all?.value.tooMuch === false ? all.value : undefined;
  const first = oneRun === undefined ? await rg.run([...whole, '--count', '--null', '--', argument]) : ok(oneRun);
  if (!first.ok) return first;
  const wrong = complaint(first.value);
  if (wrong !== undefined) return wrong;

  const decode = decoderFor(searcher);
  const hits = oneRun === undefined ? undefined : parseHits(oneRun.stdout.toString('utf8'), decode);
  const counts = hits === undefined ? parseCounts(first.value.stdout) : countsOf(hits);
  const found = counts.filter(({ path }) => root.refuses(path).ok);
  const sorted = await newestFirst(root.folder.self, found);
  const told = await hideSecretHits(searcher, sorted, [...files(query), '--', argument]);
  const answer = {
    files: told.files.slice(0, query.limit),
    totalMatches: told.files.reduce((sum, { count }) => sum + count, 0),
    totalFiles: told.files.length,
    ignored: await ignoredCount(searcher, query, { first: first.value, argument, found: told.files }),
    complete: first.value.complete && told.complete,
    lines: [],
  };
  if (!wantsLines) return ok(answer);

  const chosen = choose(told.files, query.limit);
  const read = hits === undefined ? await readHits(searcher, query, chosen, decode) : ok({ hits, complete: true });
  if (!read.ok) return read;
  const lines: GrepLine[] = [];
  for (const some of select(read.value.hits, chosen, query.limit)) {
    const proven = rg.contained ? some.lines : await recheckLines(searcher, some, decode);
    for (const line of proven) lines.push(line);
  }
  return ok({ ...answer, lines, complete: answer.complete && read.value.complete });
}

function pattern({ pattern, caseSensitive, literal, multiline }: GrepQuery): string[] {
  const letters = { true: '--case-sensitive', false: '--ignore-case', smart: '--smart-case' }[
    String(caseSensitive) as 'smart'
  ];
  return [
    letters,
    ...(literal ? ['--fixed-strings'] : []),
    ...(multiline ? ['--multiline'] : []),
    '--color=never',
    '--with-filename',
    '--no-heading',
    // In one word, so that it can never be an option of its own.
    `--regexp=${pattern}`,
  ];
}

function files(query: GrepQuery): string[] {
  return [
    ...fileOptions(query),
    ...query.include.map((glob) => `--glob=${glob}`),
    ...query.exclude.map((glob) => `--glob=!${glob}`),
  ];
}

/** Returns ripgrep's complaint about the pattern. Files that it could not read are not worth a failure. */
function complaint({ stderr }: RipgrepRun): Result<never> | undefined {
  const at = stderr.search(
    /regex parse error|error parsing glob|is not allowed in a regex|compiled regex exceeds|error: invalid/i,
  );
  if (at < 0) return undefined;
  const why = stderr
    .slice(at)
    .split('\n')
    .filter((line) => !line.includes('DEBUG'))
    .slice(0, 8)
    .join('\n')
    .trim();
  return fail('INVALID_INPUT', `The search was not understood; set literal to search for the text as it is.\n${why}`);
}

function parseCounts(stdout: Buffer): FileCount[] {
  const found: FileCount[] = [];
  for (const line of stdout.toString('utf8').split('\n')) {
    const nul = line.indexOf('\0');
    if (nul > 0) found.push({ path: withoutDot(line.slice(0, nul)), count: Number(line.slice(nul + 1)) });
  }
  return found;
}

/** With include patterns ripgrep's log would name every file that does not fit, so they are counted only when it matters. */
async function ignoredCount(
  { rg }: Searcher,
  query: GrepQuery,
  { first, argument, found }: { first: RipgrepRun; argument: string; found: readonly FileCount[] },
): Promise<number | null> {
  if (query.includeIgnored) return 0;
  if (query.include.length === 0) return countIgnored(first.stderr);
  if (found.length > 0) return null;
  const listed = await rg.run(['--files', '--null', '--debug', ...fileOptions(query), '--', argument]);
  return listed.ok ? countIgnored(listed.value.stderr) : null;
}

function choose(sorted: readonly FileCount[], limit: number): FileCount[] {
  const chosen: FileCount[] = [];
  let matches = 0;
  for (const each of sorted) {
    if (matches >= limit) break;
    chosen.push(each);
    matches += each.count;
  }
  return chosen;
}

/** Lines that are not UTF-8 come as bytes; the encoding is told from the whole file. */
function decoderFor(searcher: Searcher): Decoder {
  const encodings = new Map<string, string>();
  return (path, bytes) => {
    const known = encodings.get(path);
    const form = known === undefined ? sniffEncoding(headOf(searcher, path)) : undefined;
    const encoding = known ?? (form?.ok && form.value !== null ? form.value.encoding : 'latin1');
    encodings.set(path, encoding);
    return decodeAs(bytes, encoding);
  };
}

function headOf({ root }: Searcher, path: string): Buffer {
  return contentAt(root, path)?.bytes.subarray(0, HEAD_BYTES) ?? Buffer.alloc(0);
}

function around(query: GrepQuery): string[] {
  return ['--json', `--before-context=${query.before}`, `--after-context=${query.after}`];
}

function countsOf(hits: ReadonlyMap<string, readonly GrepLine[]>): FileCount[] {
  return [...hits].map(([path, lines]) => ({ path, count: lines.filter(({ match }) => match).length }));
}

async function readHits(
  { rg }: Searcher,
  query: GrepQuery,
  chosen: readonly FileCount[],
  decode: Decoder,
): Promise<Result<{ hits: Map<string, GrepLine[]>; complete: boolean }>> {
  if (chosen.length === 0) return ok({ hits: new Map(), complete: true });
  const paths = chosen.map(({ path }) => `./${path}`);
  const most = `--max-count=${query.limit}`;
  const ran = await rg.run([...pattern(query), '--no-messages', ...around(query), most, '--', ...paths]);
  if (!ran.ok) return ran;
  return ok({ hits: parseHits(ran.value.stdout.toString('utf8'), decode), complete: ran.value.complete });
}

/** The lines of the chosen files in their order, until there are enough matches. */
function select(
  hits: ReadonlyMap<string, readonly GrepLine[]>,
  chosen: readonly FileCount[],
  limit: number,
): LinesOfFile[] {
  let matches = 0;
  return chosen.map(({ path }) => {
    const lines: GrepLine[] = [];
    for (const line of hits.get(path) ?? []) {
      if (matches >= limit) break;
      if (line.match) matches++;
      lines.push(line);
    }
    return { path, lines };
  });
}
