import { Readability } from '@mozilla/readability';
import { gfm } from '@truto/turndown-plugin-gfm';
import { parseHTML } from 'linkedom';
import TurndownService from 'turndown';

/** Converts a page as other programs do: a DOM, then Readability, then Turndown. */
export function peerMarkdown(html: string, url: string): string {
  const { document } = parseHTML(html);
  const base = document.createElement('base');
  base.setAttribute('href', url);
  (document.head ?? document.documentElement).prepend(base);
  const article = new Readability(document as never, { keepClasses: true }).parse();
  const turndown = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced' });
  turndown.use(gfm);
  const content = article?.content ?? document.documentElement.outerHTML;
  const title = article?.title ? `# ${article.title}\n\n` : '';
  return title + turndown.turndown(content);
}
