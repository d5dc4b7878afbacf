import { withoutHalfPair } from '../../kernel/text/truncate.ts';
import type { GrepLine } from '../../kernel/world/workspace.ts';
import { withoutDot } from './search-scope.ts';

const MAX_LINE_CHARS = 500;

interface RipgrepText {
  readonly text?: string;
  /** Base64, when it is no UTF-8. */
  readonly bytes?: string;
}

interface RipgrepMessage {
  readonly type: string;
  readonly data: {
    readonly path?: RipgrepText;
    readonly lines?: RipgrepText;
    readonly line_number?: number | null;
    readonly submatches?: readonly { readonly start: number }[];
  };
}

/** The text of bytes that are no UTF-8, as the file they stand in is encoded. */
export type Decoder = (path: string, bytes: Buffer) => string;

/** ripgrep's JSON lines, by file. */
export function parseHits(json: string, decode: Decoder): Map<string, GrepLine[]> {
  const byFile = new Map<string, GrepLine[]>();
  for (const line of json.split('\n')) {
    if (!line.startsWith('{"type":"match"') && !line.startsWith('{"type":"context"')) continue;
    const { type, data } = parse(line);
    if (data.path === undefined || data.lines === undefined) continue;
    const path = withoutDot(textOf(data.path, (bytes) => bytes.toString('latin1')));
    const known = byFile.get(path) ?? [];
    byFile.set(path, known);
    const texts = textOf(data.lines, (bytes) => decode(path, bytes))
      .replace(/\r?\n$/, '')
      .split(/\r?\n/);
    for (const [index, text] of texts.entries()) {
      const start = index === 0 ? (data.submatches?.[0]?.start ?? 0) : 0;
      known.push({ path, line: (data.line_number ?? 1) + index, text: around(text, start), match: type === 'match' });
    }
  }
  return byFile;
}

/** The last line may be cut off when the time was over. */
function parse(line: string): RipgrepMessage {
  try {
    return JSON.parse(line);
  } catch {
    return { type: 'cut', data: {} };
  }
}

function textOf({ text, bytes }: RipgrepText, decode: (bytes: Buffer) => string): string {
  return text ?? decode(Buffer.from(bytes ?? '', 'base64'));
}

/** A long line is cut around the match, not from its start. `start` is in bytes. */
function around(text: string, start: number): string {
  if (text.length <= MAX_LINE_CHARS) return text;
  const at = Buffer.from(text).subarray(0, start).toString('utf8').length;
  const from = withoutHalfPair(text, Math.max(0, Math.min(at - 100, text.length - MAX_LINE_CHARS)));
  const to = withoutHalfPair(text, from + MAX_LINE_CHARS);
  return `${from > 0 ? '…' : ''}${text.slice(from, to)}${to < text.length ? '…' : ''}`;
}
