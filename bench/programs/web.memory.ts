// A process of its own, so that its peak is the conversion's: prints the bytes it grew by, and the size of the page.
import { htmlToMarkdown } from '../../src/tools/web/html/html-to-markdown.ts';
import { largePages } from './web.pages.ts';

const options = { url: 'https://bench.test/', style: 'markdown' } as const;
const small = largePages(100_000);
for (const html of Object.values(small)) await htmlToMarkdown(html, options);
const html = largePages(5_000_000).documentation;
globalThis.gc?.();
const before = process.memoryUsage.rss();
let peak = before;
const look = () => {
  peak = Math.max(peak, process.memoryUsage.rss());
};
const { text } = await htmlToMarkdown(html, { ...options, goOn: look });
look();
console.log(JSON.stringify({ grown: peak - before, page: html.length, text: text.length }));
