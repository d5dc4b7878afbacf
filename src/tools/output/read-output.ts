import { z } from 'zod';
import { fail, ok } from '../../kernel/result.ts';
import { withoutHalfPair } from '../../kernel/text/truncate.ts';
import { ToolCategory } from '../../kernel/tool/category.ts';
import { defineTool } from '../../kernel/tool/tool.ts';

const DEFAULT_LINES = 400;
const MAX_LINE_CHARS = 2000;
/** Room for the footer. */
const FOOTER = 100;

export const readOutput = defineTool({
  name: 'read_output',
  category: ToolCategory.OTHER,
  effect: 'pure',
  description:
    'Read more of a truncated output. Give the artifact from the notice in that output; use offset and limit for parts. ' +
    'A negative offset counts lines from the end. Very long lines are wrapped, and each piece counts as a line.',
  input: z.object({
    artifact: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'must be the 64 characters from the notice')
      .describe('The artifact named in the truncated output'),
    offset: z.int().default(1).describe('First line, counted from 1; negative counts from the end'),
    limit: z.int().min(1).max(2000).default(DEFAULT_LINES).describe('How many lines'),
  }),
  output: z.object({ lines: z.array(z.string()), first: z.int(), total: z.int() }),

  summary: ({ artifact, offset }) => `Read kept output ${artifact.slice(0, 8)} from line ${offset}`,
  access: () => [],

  async run({ artifact, offset, limit }, ctx) {
    const kept = await ctx.artifacts.get(artifact);
    if (!kept.ok) return kept;

    const room = Math.max(1, ctx.maxOutputSize - FOOTER);
    const all = wrapped(new TextDecoder().decode(kept.value), Math.min(MAX_LINE_CHARS, room));
    const first = offset < 0 ? Math.max(1, all.length + offset + 1) : Math.max(1, offset);
    const lines = fitting(all.slice(first - 1, first - 1 + limit), room);
    if (lines.length > 0) return ok({ lines, first, total: all.length });
    return fail('INVALID_INPUT', `The output has only ${all.length} lines; use an offset up to ${all.length}.`);
  },

  render({ lines, first, total }) {
    const next = first + lines.length;
    const more = next > total ? '' : `\n[${total - next + 1} more lines; continue with offset=${next}]`;
    return lines.join('\n') + more;
  },
});

function wrapped(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => (line.length <= width ? [line] : piecesOf(line, width)));
}

function piecesOf(line: string, width: number): string[] {
  const pieces: string[] = [];
  for (let from = 0, to = 0; from < line.length; from = to) {
    // A surrogate pair is wider than one unit.
    to = Math.max(from + 1, withoutHalfPair(line, from + width));
    pieces.push(line.slice(from, to));
  }
  return pieces;
}

/** As many lines as fit, so that this output is not truncated in its turn. */
function fitting(lines: readonly string[], room: number): string[] {
  const fitted: string[] = [];
  let used = 0;
  for (const line of lines) {
    used += line.length + 1;
    if (used > room + 1) break;
    fitted.push(line);
  }
  return fitted;
}
