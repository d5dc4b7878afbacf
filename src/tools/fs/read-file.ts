import { z } from 'zod';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { ToolCategory } from '../../kernel/tool/category.ts';
import { defineTool, type ToolContext } from '../../kernel/tool/tool.ts';
import type { BinaryFile, LineWindow } from '../../kernel/world/workspace.ts';
import { listingText } from './listing-text.ts';
import { PATH_ALIASES, pathParameter } from './path-parameter.ts';

const MAX_LINES = 2000;
const MAX_BYTES = 50 * 1024;
const MAX_LINE_CHARS = 2000;
const MAX_BASE64_BYTES = 10 * 1024 * 1024;
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;
const MAX_ENTRIES = 500;

const output = z.object({
  content: z.string(),
  size: z.number(),
  modified: z.string(),
  path: z.string(),
  encoding: z.string(),
  version: z.string().nullable(),
  firstLine: z.int().optional(),
  lines: z.int().optional(),
  totalLines: z.int().nullable().optional(),
  image: z.object({ mimeType: z.string(), data: z.string() }).optional(),
  /** Information besides the content. */
  notice: z.string().optional(),
});
type Output = z.output<typeof output>;

export const readFile = defineTool({
  name: 'read_file',
  category: ToolCategory.FILE,
  effect: 'pure',
  patterns: 'paths',
  readsFiles: true,
  description:
    `Read a file of the workspace as text. Returns up to ${MAX_LINES} lines or 50 KB; page through a longer file with ` +
    'offset and limit. Images are returned as images; encoding base64 returns the bytes of any other file. A folder returns its ' +
    'listing. Pass the version of the result to write_file and edit_file to be sure that nothing changed meanwhile.',
  input: z.object({
    path: pathParameter('The file'),
    offset: z.int().default(1).describe('First line, counted from 1; a negative one counts from the end'),
    limit: z.int().min(1).max(MAX_LINES).default(MAX_LINES).describe('How many lines'),
    encoding: z.enum(['utf-8', 'base64']).default('utf-8').describe('base64 for the bytes of a binary file'),
    withVersion: z
      .boolean()
      .default(false)
      .describe('Also the version of a file above 16 MB, which is read as a whole'),
  }),
  output,
  aliases: PATH_ALIASES,

  summary: ({ path }) => `Read ${path}`,
  access: ({ path }) => [{ kind: 'fs.read', path }],

  async run({ path, offset, limit, encoding, withVersion }, ctx) {
    if (encoding === 'base64') return asBase64(path, ctx);
    const read = await ctx.files.readWindow(path, {
      offset: offset === 0 ? 1 : offset,
      limit,
      maxBytes: MAX_BYTES,
      maxLineChars: MAX_LINE_CHARS,
      withVersion,
    });
    if (read.ok) return 'binary' in read.value ? asBinary(read.value, ctx) : ok(asText(read.value));
    if (read.error.details?.folder === true) return asListing(path, ctx);
    if (read.error.code === 'FILE_NOT_FOUND') return withSuggestions(path, read, ctx);
    return read;
  },

  render: ({ content, notice }) => {
    if (notice === undefined) return content;
    return content === '' || content.endsWith('\n') ? `${content}${notice}` : `${content}\n${notice}`;
  },
  view({ path, content, image, notice }) {
    if (image !== undefined) return [{ kind: 'image', mimeType: image.mimeType, base64: image.data, alt: path }];
    const shown = { kind: 'code' as const, text: content, path };
    return notice === undefined ? [shown] : [shown, { kind: 'text', text: notice }];
  },
  attachments: ({ image }) => (image === undefined ? [] : [{ kind: 'image', ...image }]),
});

function asText(window: LineWindow): Output {
  const { content, size, modified, path, encoding, version, first, lines, totalLines, more } = window;
  const last = first + lines - 1;
  const total = totalLines === null ? '' : ` of ${totalLines}`;
  const notes = [
    more && first > 0 ? `Lines ${first}-${last}${total}. Continue with offset=${last + 1}.` : '',
    more && first < 0 ? `Lines ${first} to ${last}, counted from the end. Continue with offset=${last + 1}.` : '',
    !more && first > 1 && totalLines !== null ? `Lines ${first}-${last} of ${totalLines}, the end of the file.` : '',
    window.cutLines > 0 ? `${window.cutLines} long lines were cut.` : '',
    encoding === 'utf-8' ? '' : `Encoding ${encoding}.`,
    size === 0 ? 'The file is empty.' : '',
  ].filter(Boolean);
  const notice = notes.length === 0 ? {} : { notice: `[${notes.join(' ')}]` };
  return { content, size, modified, path, encoding, version, firstLine: first, lines, totalLines, ...notice };
}

async function asBinary(file: BinaryFile, ctx: ToolContext): Promise<Result<Output>> {
  const { path, size, modified, mimeType } = file;
  const known = { path, size, modified, encoding: 'binary', version: null };
  if (!mimeType.startsWith('image/') || size > MAX_IMAGE_BYTES) {
    const notice = `[Binary file: ${path} is ${mimeType}, ${size} bytes, and has no text to show. Use encoding=base64 for its bytes.]`;
    return ok({ ...known, content: '', notice });
  }
  const read = await ctx.files.readBytes(path, MAX_IMAGE_BYTES);
  if (!read.ok) return read;
  const data = Buffer.from(read.value.bytes).toString('base64');
  const notice = `[Image: ${path} is ${mimeType}, ${size} bytes.]`;
  return ok({ ...known, version: read.value.version, content: '', image: { mimeType, data }, notice });
}

async function asBase64(path: string, ctx: ToolContext): Promise<Result<Output>> {
  const read = await ctx.files.readBytes(path, MAX_BASE64_BYTES);
  if (!read.ok) return read.error.code === 'FILE_NOT_FOUND' ? withSuggestions(path, read, ctx) : read;
  const { bytes, size, modified, version } = read.value;
  const content = Buffer.from(bytes).toString('base64');
  return ok({ content, size, modified, path: read.value.path, encoding: 'base64', version });
}

async function asListing(path: string, ctx: ToolContext): Promise<Result<Output>> {
  const listed = await ctx.files.list(path, { limit: MAX_ENTRIES });
  if (!listed.ok) return listed;
  const notice = `[${listed.value.path} is a folder; this is its listing. Use list_directory for more.]`;
  return ok({
    content: listingText(listed.value),
    size: 0,
    modified: new Date(0).toISOString(),
    path: listed.value.path,
    encoding: 'listing',
    version: null,
    notice,
  });
}

async function withSuggestions(path: string, failure: Result<never>, ctx: ToolContext): Promise<Result<never>> {
  if (failure.ok) return failure;
  const suggestions = await ctx.files.suggest(path);
  const next =
    suggestions.length > 0
      ? `Did you mean ${suggestions.join(' or ')}?`
      : 'Find files with list_directory or glob, or create it with write_file.';
  return fail('FILE_NOT_FOUND', `File not found: ${path}. ${next}`, { path, suggestions });
}
