import { describe, expect, test } from 'vitest';
import { htmlToMarkdown } from '../../src/tools/web/html/html-to-markdown.ts';
import { missesOf, readPages } from './score.ts';

describe('a page as markdown has its headings, links, rows and code, and nothing of what stands around it', () => {
  test.each(readPages().map((page) => [page.name, page] as const))('%s', async (_name, { html, expected }) => {
    const { text } = await htmlToMarkdown(html, { url: expected.url, style: 'markdown' });
    expect(missesOf(text, expected).missed, text).toEqual([]);
  });
});
