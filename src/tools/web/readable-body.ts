import { messageOf } from '../../kernel/error.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { ToolContext } from '../../kernel/tool/tool.ts';
import type { WebResponse } from '../../kernel/world/web.ts';
import { bodyKind } from './body-kind.ts';
import { decodeBody } from './decode-body.ts';
import { htmlToMarkdown } from './html/html-to-markdown.ts';
import { jsonText } from './json-text.ts';
import { type Heading, markdownHeadings } from './page-section.ts';
import { visibleText } from './visible-text.ts';

export type Format = 'markdown' | 'text' | 'html' | 'raw';

export interface ReadableBody {
  readonly text: string;
  readonly title: string | null;
  readonly charset: string | null;
  readonly headings: readonly Heading[];
  /** Why there is no text, or not all of it. */
  readonly notice?: string;
}

const MAX_CONVERSION_MS = 20_000;

/** Converts a body to readable text. Binary content is reported with its type and size. */
export async function readableBody(
  { bytes, headers, url }: WebResponse,
  format: Format,
  ctx: ToolContext,
): Promise<Result<ReadableBody>> {
  const contentType = headers['content-type'] ?? '';
  const found = bodyKind(bytes, contentType);
  if (found.kind === 'binary') return ok(without(`Binary content: ${found.type}, ${bytes.length} bytes, not shown.`));
  if (found.kind === 'pdf') return readPdf(bytes, ctx);
  const { text, charset } = decodeBody(bytes, contentType);
  if (format === 'raw') return ok({ text, title: null, charset, headings: [] });
  if (found.kind === 'json') return ok({ text: visibleText(jsonText(text)), title: null, charset, headings: [] });
  if (found.kind === 'text' || format === 'html') {
    const seen = visibleText(text);
    const headings = format === 'html' ? [] : markdownHeadings(seen);
    return ok({ text: seen, title: null, charset, headings });
  }

  const startedAt = performance.now();
  const goOn = () => {
    ctx.signal.throwIfAborted();
    if (performance.now() - startedAt > MAX_CONVERSION_MS) throw new Error('it takes too long');
  };
  try {
    const page = await htmlToMarkdown(text, { url, style: format, goOn });
    return ok({ ...page, charset });
  } catch (error) {
    if (ctx.signal.aborted) return fail('CANCELLED', 'The fetch was cancelled.');
    const why = `The page could not be made readable: ${messageOf(error)}.`;
    return fail('EXECUTION_ERROR', `${why} Fetch it with format raw, and page through it.`);
  }
}

async function readPdf(bytes: Uint8Array, ctx: ToolContext): Promise<Result<ReadableBody>> {
  const read = await ctx.web.pdfText(bytes);
  if (!read.ok && read.error.code !== 'INVALID_INPUT') return read;
  if (!read.ok) return ok(without(`${read.error.message} It has ${bytes.length} bytes.`));
  const pages = read.value.pages.map((page) => page.trim());
  const { total } = read.value;
  if (pages.every((page) => page === '')) {
    return ok(without(`PDF of ${total} pages without text, probably scanned; ${bytes.length} bytes, not shown.`));
  }
  const text = visibleText(pages.map((page, index) => `[Page ${index + 1}]\n${page}`).join('\n\n'));
  const notice = `It has ${total} pages; only the first ${pages.length} were read.`;
  return ok({ text, title: null, charset: null, headings: [], ...(total > pages.length && { notice }) });
}

function without(notice: string): ReadableBody {
  return { text: '', title: null, charset: null, headings: [], notice };
}
