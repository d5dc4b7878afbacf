import { z } from 'zod';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { diffText } from '../../kernel/text/diff-text.ts';
import { ToolCategory } from '../../kernel/tool/category.ts';
import { planFailure } from '../../kernel/tool/plan.ts';
import { defineTool } from '../../kernel/tool/tool.ts';
import type { AppliedChange, Change } from '../../kernel/world/workspace.ts';
import { PATH_ALIASES, pathParameter } from './path-parameter.ts';

const input = z.object({
  path: pathParameter('The file'),
  content: z.string().describe('The full content'),
  encoding: z.enum(['utf-8', 'base64']).default('utf-8').describe('base64 if the content is the base64 of bytes'),
  createDirs: z.boolean().default(true).describe('Create missing parent folders'),
  version: z.string().optional().describe('The version you read: the call is refused if the file has changed since'),
});
type WriteInput = z.output<typeof input>;

export const writeFile = defineTool({
  name: 'write_file',
  category: ToolCategory.FILE,
  effect: 'idempotent',
  patterns: 'paths',
  changesFiles: 'writes',
  description:
    'Create a file or overwrite the whole file. Mode, encoding, byte order mark and CRLF line endings of an existing ' +
    'file are kept. Use edit_file to change a part of a file.',
  input,
  output: z.object({
    path: z.string(),
    size: z.number(),
    created: z.boolean(),
    version: z.string(),
    diff: z.string(),
    note: z.string().nullable(),
  }),
  aliases: { ...PATH_ALIASES, content: ['text', 'contents'] },

  summary: ({ path, content }) => `Write ${path} (${content.length} characters)`,
  plan(given) {
    const change = changeOf(given);
    if (!change.ok) return planFailure(change, [{ kind: 'fs.write', path: given.path }]);
    const isText = given.encoding === 'utf-8';
    return ok({
      changes: [change.value],
      ...(isText && { withText: (content: string) => ({ ...given, content }) }),
    });
  },

  async run({ changes }, ctx) {
    const done = await ctx.files.apply(changes);
    if (!done.ok) return done;
    const [applied] = done.value;
    if (applied?.kind !== 'write') return fail('INTERNAL', 'The workspace gave no answer to a write.');
    const { path, size, created, version, note } = applied;
    return ok({ path, size, created, version, note, diff: diffOf(applied) });
  },

  render: ({ path, size, created, diff, note }) =>
    [
      `${created ? 'Created' : 'Overwrote'} ${path} (${size} bytes${note === null ? '' : `, ${note}`}).`,
      created ? '' : diff,
    ]
      .filter(Boolean)
      .join('\n'),
  view: ({ path, diff }) => [
    { kind: 'files', paths: [path] },
    ...(diff === '' ? [] : [{ kind: 'diff' as const, text: diff }]),
  ],
});

function changeOf({ path, content, encoding, createDirs, version }: WriteInput): Result<Change> {
  const bytes = encoding === 'base64' ? fromBase64(content) : ok({ text: content });
  if (!bytes.ok) return bytes;
  if (encoding === 'utf-8' && holdsNotice(content)) return shownText();
  const expect = version === undefined ? {} : { expect: { version } };
  return ok({ kind: 'write', path, content: bytes.value, createDirs, ...expect });
}

const NOTICE =
  /^\[(?:Binary file: .*? has no text to show\.|Image: .*? bytes\.|Lines -?\d+(?:-| to )-?\d.*?(?:Continue with offset=|the end of the file\.))/m;

/**
 * Whether the content is a notice of read_file, which nobody wants in a file. In two steps: one pattern for both is
 * quadratic.
 */
function holdsNotice(content: string): boolean {
  return content.split('\n').some((line) => {
    const begun = NOTICE.exec(line);
    return begun !== null && /\]\s*$/m.test(line.slice(begun.index + begun[0].length));
  });
}

function shownText(): Result<never> {
  return fail(
    'INVALID_INPUT',
    'The content contains a notice of read_file (in square brackets) instead of the text of the file. Read the rest first, or use edit_file.',
  );
}

function fromBase64(content: string): Result<Uint8Array> {
  const plain = content.replace(/\s+/g, '');
  const valid = /^[A-Za-z0-9+/]*={0,2}$/.test(plain) && plain.length % 4 === 0;
  if (valid) return ok(Buffer.from(plain, 'base64'));
  return fail('INVALID_INPUT', 'The content is not base64: encode the bytes, or leave encoding out for text.');
}

function diffOf({ before, after }: Extract<AppliedChange, { kind: 'write' }>): string {
  return before === null || after === null ? '' : diffText(before, after).text;
}
