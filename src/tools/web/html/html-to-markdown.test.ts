import { describe, expect, test } from 'vitest';
import { htmlToMarkdown } from './html-to-markdown.ts';

const markdown = async (html: string) =>
  (await htmlToMarkdown(html, { url: 'https://site.test/docs/page', style: 'markdown' })).text;

describe('a page as markdown', () => {
  test.each<[string, string, string]>([
    [
      'marks',
      '<p>a <b>b</b><i> c</i> <code>d`e</code> <s>f</s> <b>g<b>h</b></b>',
      'a **b** *c* `` d`e `` ~~f~~ **gh**',
    ],
    ['marks without text', '<p>a <b> </b>b<i></i>', 'a b'],
    [
      'links',
      '<a href="../x?a=1&amp;utm_source=y">x</a> <a href="//o.test/(1)">o</a>',
      '[x](https://site.test/x?a=1) [o](https://o.test/%281%29)',
    ],
    ['links that do things', '<a href="javascript:x()">a</a> <a href=" data:text/html,x">b</a> <a>c</a>', 'a b c'],
    [
      'a link over blocks',
      '<a href="/x"><h2>T</h2><p>t</p></a>',
      '## [T](https://site.test/x)\n\n[t](https://site.test/x)',
    ],
    [
      'powers, and no notes or endings',
      '2<sup>10</sup> x<sup>n</sup> 10<sup>−3</sup> said<sup><a href="#a">1</a></sup> 1<sup>st</sup> H<sub>2</sub>O',
      '2^10 x^n 10^−3 said[1](https://site.test/docs/page#a) 1st H2O',
    ],
    [
      'the language of code',
      '<div class="highlight-python notranslate"><div class="highlight"><pre>a</pre></div></div><div class="highlight notranslate"><pre>b</pre></div><div class="highlight highlight-source-js"><pre>c</pre></div>',
      '```python\na\n```\n\n```\nb\n```\n\n```js\nc\n```',
    ],
    ['line breaks', 'a<br>b <br/> c', 'a\nb\nc'],
    ['spaces', '<p>  a \n\t b&nbsp;c&#8203; </p>', 'a b c'],
    [
      'lists',
      '<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul><ol start=3><li>d<li>e</ol>',
      '- a\n  - b\n- c\n\n3. d\n4. e',
    ],
    ['an item of two paragraphs', '<ol><li><p>a<p>b</ol>', '1. a\n\n   b'],
    ['a quotation', '<blockquote>a<pre>b\nc</pre></blockquote>', '> a\n\n> ```\n> b\n> c\n> ```'],
    ['code with fences in it', '<pre>```\nx\n```</pre>', '````\n```\nx\n```\n````'],
    [
      'code with line numbers',
      '<table><tr><td class="gutter"><pre>1\n2</pre></td><td class="code"><pre>a\nb</pre></td></tr></table>',
      '```\na\nb\n```',
    ],
    ['a table', '<table><tr><th>a<th>b<tr><td>1|2<td>x<br>y</table>', '| a | b |\n| --- | --- |\n| 1\\|2 | x y |'],
    [
      'spans',
      '<table><tr><td colspan=2>a<td>b<tr><td rowspan=2>c<td>d<td>e<tr><td>f<td>g</table>',
      '| a |  | b |\n| --- | --- | --- |\n| c | d | e |\n| c | f | g |',
    ],
    [
      'lists in cells',
      '<table><tr><th>a<th>b<tr><td>x<td><ul><li>1<li>2</ul></table>',
      '| a | b |\n| --- | --- |\n| x | • 1 • 2 |',
    ],
    ['images', '<img src=/a.png alt="A b"><img src=/p.gif><img src="data:x" alt=c>', '![A b](https://site.test/a.png)'],
    ['a rule', 'a<hr>b', 'a\n\n---\n\nb'],
    ['terms', '<dl><dt>a<dd>b<dd>c</dl>', '**a**\n  b\n  c'],
    ['another base', '<base href="https://cdn.test/x/"><a href="y">z</a>', '[z](https://cdn.test/x/y)'],
    ['a table without rows', '<table></table>a', 'a'],
    ['nothing', '', ''],
    ['plain text', 'just words', 'just words'],
    ['the text of a page of navigation', '<nav><a href="/a">Only</a> this</nav>', '[Only](https://site.test/a) this'],
  ])('writes %s', async (_what, html, expected) => {
    expect(await markdown(html)).toBe(expected);
  });

  test('takes its title from the page, or from what it says to others', async () => {
    const title = async (html: string) => (await htmlToMarkdown(html, { url: 'https://a.test', style: 'text' })).title;
    expect(await title('<title> A\n &lt;b&gt; </title><svg><title>no</title></svg>')).toBe('A <b>');
    expect(await title('<meta property="og:title" content="B">')).toBe('B');
    expect(await title('<p>x')).toBe(null);
  });

  test('ends when it is told to', async () => {
    const stop = () => {
      throw new Error('enough');
    };
    const html = '<p>word <b>word</b></p>'.repeat(200_000);
    await expect(htmlToMarkdown(html, { url: 'https://a.test', style: 'text', goOn: stop })).rejects.toThrow('enough');
  });
});

describe('a hostile page', () => {
  const HOSTILE: Readonly<Record<string, string>> = {
    'elements in elements': '<div>'.repeat(1_000_000),
    'marks in marks': '<b>x'.repeat(500_000),
    'lists in lists': '<ul><li>x'.repeat(300_000),
    'tables in tables': '<table><tr><td>'.repeat(200_000),
    'quotations in quotations': '<blockquote>x'.repeat(200_000),
    'end tags of nothing': '<div>'.repeat(400_000) + '</p></x>'.repeat(400_000),
    'links without end': '<a href=x>y'.repeat(300_000),
    'cells that span everything': `<table>${'<tr><td colspan=1000 rowspan=1000>x'.repeat(100_000)}`,
    'one tag of many attributes': `<a ${'x=1 '.repeat(1_000_000)}>`,
    'an opening that never comes': '<'.repeat(2_000_000),
    'comments that never end': '<!--'.repeat(1_000_000),
    'fences in code': `<pre>${'```\n'.repeat(1_000_000)}`,
    'a sheet of nothing but braces': `<style>${'.a{'.repeat(1_000_000)}`,
    'breaks between empty paragraphs': '<br><p>'.repeat(200_000),
    'long cells that span everything':
      `<table><tr><th colspan=100 rowspan=100>${'a'.repeat(4000)}</th></tr>${'<tr><td></td></tr>'.repeat(99)}</table>`.repeat(
        40,
      ),
    'a long address for every link': `<base href="http://a/${'x'.repeat(30_000)}/">${'<a href=b>c</a> '.repeat(40_000)}`,
    'an address that grows': '<base href=a/>'.repeat(80_000),
    'high numbers before every line': `${'<ol start=9007199254740900><li>'.repeat(12)}<pre>${'a\n'.repeat(50_000)}`,
    spaces: '<p>a'.concat(' \n'.repeat(2_000_000)),
    entities: '&amp;&lt;'.repeat(400_000),
    'spaces in code': `<pre>${' '.repeat(3_000_000)}x`,
    'breaks in a heading': `<h1>x${'<br>'.repeat(700_000)}y`,
    'blocks in a cell': `<table><td>x${'<p>'.repeat(700_000)}y`,
    'comments in a sheet': `<style>${'/*'.repeat(1_000_000)}</style>x`,
    'heights in a sheet': `<style>a{${';height:0'.repeat(300_000)}}</style>x`,
    'styles that hide nothing': `<p style="${';width:0'.repeat(500)}">x`.repeat(800),
    'colours without end': `<p style="color:rgb(${', '.repeat(2000)}">x`.repeat(800),
    'blanks as entities in a colour': `<p style="color:rgb(,${'&#9;'.repeat(400_000)}">x`,
    'hidden elements in the depth': `${'<div>'.repeat(200)}${'<b hidden>x'.repeat(300_000)}`,
    'classes of words': `<p class="${'nav_ '.repeat(700)}">x`.repeat(800),
  };

  test.each(Object.entries(HOSTILE))(
    'of %s neither hangs, nor throws, nor holds others up',
    async (_what, html) => {
      let turns = 0;
      const timer = setInterval(() => turns++, 5);
      const startedAt = performance.now();
      const { text } = await htmlToMarkdown(html, { url: 'https://a.test', style: 'markdown' });
      clearInterval(timer);
      expect(performance.now() - startedAt).toBeLessThan(60_000);
      expect(text.length).toBeLessThan(30_000_000);
      if (performance.now() - startedAt > 500) expect(turns).toBeGreaterThan(5);
    },
    90_000,
  );
});
