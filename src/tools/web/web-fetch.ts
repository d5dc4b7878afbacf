import { z } from 'zod';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { ToolCategory } from '../../kernel/tool/category.ts';
import { defineTool } from '../../kernel/tool/tool.ts';
import type { WebResponse } from '../../kernel/world/web.ts';
import { markUntrusted } from './mark-untrusted.ts';
import { pageSection } from './page-section.ts';
import type { ReadableBody } from './readable-body.ts';
import { secretReason } from './secret-reason.ts';

const MAX_BYTES = 5 * 1024 * 1024;

const output = z.object({
  status: z.int(),
  url: z.string().describe('Where it came from, after redirects'),
  headers: z.record(z.string(), z.string()),
  contentType: z.string(),
  charset: z.string().nullable(),
  title: z.string().nullable(),
  body: z.string().describe('The text, as format asked for it: the window from offset'),
  bytes: z.int(),
  offset: z.int(),
  totalChars: z.int(),
  nextOffset: z.int().nullable(),
  cachedAt: z.string().nullable().describe('When it was fetched, if it comes from the cache'),
  notice: z.string().optional(),
});

export const webFetch = defineTool({
  name: 'web_fetch',
  category: ToolCategory.WEB,
  patterns: 'hosts',
  description:
    'Fetch a page or an API from the web. Returns HTML as readable markdown with absolute links, JSON indented, PDF as text. ' +
    'Read long content in parts with offset, or one section by its heading. Status 4xx and 5xx are not errors.',
  input: z.object({
    url: z.string().min(1).max(8000).describe('An http or https URL'),
    method: z.enum(['GET', 'POST']).default('GET').describe('The HTTP method'),
    headers: z.record(z.string(), z.string()).optional().describe('Headers to send'),
    body: z.string().max(1_000_000).optional().describe('Body to send with POST'),
    timeout: z.number().min(1).max(120).default(30).describe('Seconds for the whole fetch'),
    format: z
      .enum(['markdown', 'text', 'html', 'raw'])
      .default('markdown')
      .describe('markdown or text: made readable; html: the source of a page; raw: the body as it came'),
    section: z.string().min(1).optional().describe('Only the part of a page under this heading'),
    offset: z.int().min(0).default(0).describe('The first character to return'),
    maxChars: z.int().min(1).max(500_000).default(50_000).describe('Maximum number of characters'),
  }),
  output,
  aliases: { maxChars: ['max_chars', 'max_length', 'maxLength'], offset: ['start_index'] },

  summary: ({ url, method }) => `${method === 'GET' ? 'Fetch' : 'Send to'} ${url.replace(/\s+/g, ' ')}`,
  access: ({ url, method }) => [{ kind: 'net.fetch', url, method }],
  approval: ({ url, headers = {}, body = '' }, ctx) =>
    secretReason([url, ...Object.entries(headers).flat(), body], ctx),

  async run({ url, method, headers, body, timeout, format, section, offset, maxChars }, ctx) {
    if (body !== undefined && method === 'GET') {
      return fail('INVALID_INPUT', 'A body can only be sent with POST: set method to POST, or leave body out.');
    }
    if (section !== undefined && (format === 'html' || format === 'raw')) {
      return fail('INVALID_INPUT', `There are no sections in format ${format}: set it to markdown or text.`);
    }
    const request = { url, method, ...(headers && { headers }), ...(body !== undefined && { body }) };
    const fetched = await ctx.web.fetch({ ...request, timeoutMs: timeout * 1000, maxBytes: MAX_BYTES });
    if (!fetched.ok) return fetched;
    // Parsers and encoding tables are loaded only for a fetch.
    const { readableBody } = await import('./readable-body.ts');
    const readable = await readableBody(fetched.value, format, ctx);
    if (!readable.ok) return readable;
    const { text, headings } = readable.value;
    const part = section === undefined ? ok(text) : pageSection(text, headings, section);
    return part.ok ? windowOf(fetched.value, { ...readable.value, text: part.value }, offset, maxChars) : part;
  },

  render({ status, url, contentType, title, body, notice, offset, totalChars, nextOffset, cachedAt }) {
    const cached = cachedAt === null ? '' : ` · from the cache, fetched at ${cachedAt}`;
    const head = `${url} → ${status}${mediaType(contentType)}${cached}${notice === undefined ? '' : `\n[${notice}]`}`;
    const content = [title === null ? '' : `Title: ${title}`, body].filter((each) => each !== '').join('\n\n');
    if (content === '') return notice === undefined ? `${head}\n[The response has no text.]` : head;
    const shown = `Characters ${offset}-${offset + body.length} of ${totalChars}.`;
    const more = nextOffset === null ? '' : `\n[${shown} Continue with offset=${nextOffset}.]`;
    return `${head}\n${markUntrusted(content)}${more}`;
  },
});

/** Returns only a valid media type: a header may contain any sentence, and this is outside the untrusted mark. */
function mediaType(contentType: string): string {
  const type = /^\s*([a-z]{1,20}\/[\w.+-]{1,80})\s*(;|$)/i.exec(contentType)?.[1];
  return type === undefined ? '' : ` · ${type.toLowerCase()}`;
}

function windowOf(
  { status, url, headers, bytes, cachedAt }: WebResponse,
  { text, title, charset, notice }: ReadableBody,
  offset: number,
  maxChars: number,
): Result<z.input<typeof output>> {
  if (offset > 0 && offset >= text.length) {
    return fail('INVALID_INPUT', `The content has only ${text.length} characters; use an offset below that.`);
  }
  const start = splits(text, offset) ? offset - 1 : offset;
  const until = Math.min(offset + maxChars, text.length);
  const end = splits(text, until) ? (until - 1 > start ? until - 1 : until + 1) : until;
  return ok({
    status,
    url,
    headers: 'set-cookie' in headers ? { ...headers, 'set-cookie': '[not kept]' } : headers,
    contentType: headers['content-type'] ?? '',
    charset,
    title,
    body: text.slice(start, end),
    bytes: bytes.length,
    offset: start,
    totalChars: text.length,
    nextOffset: end < text.length ? end : null,
    cachedAt: cachedAt === null ? null : new Date(cachedAt).toISOString(),
    ...(notice !== undefined && { notice }),
  });
}

/** Whether a cut here would split a surrogate pair. */
function splits(text: string, at: number): boolean {
  return at > 0 && /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(at - 1, at + 1));
}
