import { messageOf } from '../../kernel/error.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { ToolContext } from '../../kernel/tool.ts';
import type { WebResponse } from '../../kernel/web.ts';
import { bodyKind } from './body-kind.ts';
import { decodeBody } from './decode-body.ts';
import { htmlToMarkdown } from './html/html-to-markdown.ts';
import { jsonText } from './json-text.ts';

export type Format = 'markdown' | 'text' | 'html' | 'raw';

export interface ReadableBody {
  readonly text: string;
  readonly title: string | null;
  readonly charset: string | null;
  /** Why there is no text, where there is none. */
  readonly notice?: string;
}

const LONGEST_CONVERSION_MS = 20_000;

/** A body as somebody can read it. What is no text is said to be none, with its type and size. */
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
  if (format === 'raw') return ok({ text, title: null, charset });
  if (found.kind === 'json') return ok({ text: visible(jsonText(text)), title: null, charset });
  if (found.kind === 'text' || format === 'html') return ok({ text: visible(text), title: null, charset });

  const startedAt = performance.now();
  const goOn = () => {
    ctx.signal.throwIfAborted();
    if (performance.now() - startedAt > LONGEST_CONVERSION_MS) throw new Error('it takes too long');
  };
  try {
    const page = await htmlToMarkdown(text, { url, style: format, goOn });
    return ok({ text: visible(page.text), title: page.title === null ? null : visible(page.title), charset });
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
  if (pages.every((page) => page === '')) {
    return ok(
      without(`PDF of ${pages.length} pages without text, probably scanned; ${bytes.length} bytes, not shown.`),
    );
  }
  const text = pages.map((page, index) => `[Page ${index + 1}]\n${page}`).join('\n\n');
  return ok({ text: visible(text), title: null, charset: null });
}

function without(notice: string): ReadableBody {
  return { text: '', title: null, charset: null, notice };
}

/** Without characters that nobody sees: they turn the direction of writing, or smuggle words past a reader. */
function visible(text: string): string {
  return text.replace(UNSEEN, '');
}

const UNSEEN = /[\u{e0000}-\u{e007f}\u202a-\u202e\u2066-\u2069]|(?![\n\t\r])\p{Cc}/gu;
