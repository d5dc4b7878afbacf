import { describe, expect, test } from 'vitest';
import { htmlToMarkdown } from './html-to-markdown.ts';

const read = async (html: string) => htmlToMarkdown(html, { url: 'https://site.test/', style: 'markdown' });
const markdown = async (html: string) => (await read(html)).text;
const words = (count: number) => 'A sentence of the page that says something. '.repeat(count);

describe('the content of a page', () => {
  test.each<[string, string]>([
    ['a short article beside a long one', `<article>${words(20)}</article><article><h2>KEPT</h2>${words(1)}</article>`],
    [
      'what follows the article in main',
      `<main><article>${words(20)}</article><section>KEPT ${words(1)}</section></main>`,
    ],
    ['a section beside a long one', `<div><section>${words(20)}</section><section>KEPT ${words(3)}</section></div>`],
    ['text before the only article', `<p>KEPT ${words(3)}</p><article>${words(10)}</article>`],
    [
      'a section about cookies',
      `<main>${words(5)}<section id="cookies"><h2>KEPT</h2><p>${words(4)}</p></section></main>`,
    ],
    ['a chapter about navigation', `${words(5)}<div class="navigation"><h2>KEPT</h2><p>${words(4)}</p></div>`],
    ['code in a part about menus', `<main>${words(5)}<div id="menu">${words(4)}<pre>KEPT</pre></div></main>`],
    ['a note', `<article>${words(5)}<aside class="note">KEPT: this is deprecated.</aside>${words(5)}</article>`],
    ['who is quoted', `<main>${words(5)}<blockquote>So it is.<footer>KEPT</footer></blockquote></main>`],
    ['a question that unfolds', `<main><h3><span><button>KEPT</button></span></h3><p>${words(2)}</p></main>`],
    ['a term that unfolds', `<main><dl><dt><button>KEPT</button><dd>${words(2)}</dl></main>`],
    ['the title above it', `<header><h1>KEPT</h1></header><main>${words(5)}</main>`],
    ['a page that is all sidebar', `<div class="sidebar">KEPT ${words(20)}</div><p>${words(2)}</p>`],
  ])('has %s', async (_what, html) => {
    expect(await markdown(`<body>${html}</body>`)).toContain('KEPT');
  });

  test.each<[string, string]>([
    ['a menu with headings', '<div class="sidebar"><h2>More</h2><a href="/a">LEFT OUT with many words</a> or</div>'],
    ['a list of what is related', '<aside><h3>See</h3><ul><li><a href="/a">LEFT OUT</a></ul></aside>'],
    ['a line about cookies', '<div id="cookie-banner">LEFT OUT, as we use cookies.</div>'],
    ['a button', '<p>Press <button>LEFT OUT</button></p>'],
    ['a plea', '<section class="newsletter"><h3>LEFT OUT</h3>Subscribe now.</section>'],
    ['navigation', '<nav><h2>LEFT OUT</h2>Here and there.</nav>'],
  ])('is without %s', async (_what, html) => {
    expect(await markdown(`<body><article>${words(9)}${html}</article></body>`)).not.toContain('LEFT OUT');
  });

  test('is not what asks for consent beside it', async () => {
    const banner = `<div id="cookie-consent"><h2>LEFT OUT</h2><p>${words(4)}</p></div>`;
    expect(await markdown(`<body>${banner}<article>${words(9)}</article></body>`)).not.toContain('LEFT OUT');
    expect(await markdown(`<body><article>${words(9)}</article>${banner}</body>`)).not.toContain('LEFT OUT');
  });

  test('has headings that say where in it they stand', async () => {
    const { text, headings } = await read(`<h1>One</h1><p>${words(3)}</p><h2>T\u200bwo</h2><p>b</p>`);
    expect(headings.map(({ at, level }) => [level, text.slice(at).split('\n')[0]])).toEqual([
      [1, '# One'],
      [2, '## Two'],
    ]);
  });
});

describe('what is not seen stays unseen at any depth', () => {
  test.each<[string, string]>([
    ['a script', '<script>SECRET</script>'],
    ['a style', '<style>.SECRET{}</style>'],
    ['hidden text', '<div hidden><div>SECRET</div>SECRET</div>'],
    ['text that a style hides', '<span style="font-size:0">SECRET<b>SECRET</b></span>'],
    ['items in a hidden list', '<ul hidden><li>SECRET<li>SECRET</ul>'],
    ['a hidden paragraph of an open one', '<p>a<div hidden><p>SECRET<li>SECRET</div>'],
    ['text that a sheet hides', '<style>.x{display:none}</style><p class=x>SECRET</p>'],
  ])('%s', async (_what, html) => {
    for (const depth of [1, 150, 198, 199, 200, 201, 400]) {
      const page = `${'<div>'.repeat(depth)}<p>before</p>${html}<p>behind</p>${'</div>'.repeat(depth)}<p>the end</p>`;
      const text = await markdown(page);
      expect(text).toMatch(/before\s[\s\S]*behind\s[\s\S]*the end/);
      expect(text).not.toContain('SECRET');
    }
  });
});
