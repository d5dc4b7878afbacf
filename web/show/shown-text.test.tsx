import { renderToStaticMarkup } from 'react-dom/server';
import { beforeAll, describe, expect, test } from 'vitest';

// The page reads these when it starts.
beforeAll(() => {
  const store = { getItem: () => 'en', setItem: () => undefined };
  Object.assign(globalThis, {
    localStorage: store,
    document: { documentElement: {} },
    location: { origin: 'http://127.0.0.1:8665' },
  });
});

async function markdown(text: string): Promise<string> {
  const { Markdown } = await import('./markdown.tsx');
  return renderToStaticMarkup(<Markdown text={text} />);
}

async function visible(text: string): Promise<string> {
  const { VisibleText: Visible } = await import('./visible-text.tsx');
  return renderToStaticMarkup(<Visible text={text} />).replace(/<\/?mark[^>]*>/g, '|');
}

describe('markdown from a model', () => {
  test('never becomes markup', async () => {
    const hostile =
      '<script>alert(1)</script>\n\n<iframe srcdoc="x"></iframe> <style>a{}</style> text <img src=x onerror=y>';
    expect(await markdown(hostile)).not.toMatch(/<(script|iframe|style|img)/);
    expect(await markdown(hostile)).toContain('&lt;script&gt;');
  });

  test('links to the web only, never to this page, and shows pictures as links', async () => {
    expect(await markdown('[x](javascript:alert(1))')).not.toContain('href');
    expect(await markdown('[x](data:text/html,y)')).not.toContain('href');
    expect(await markdown('[x](http://127.0.0.1:8665/v1/approvals/1/approve)')).not.toContain('href');
    expect(await markdown('[x](/v1/approvals)')).not.toContain('href');
    expect(await markdown('[x](https://example.org/a)')).toContain('href="https://example.org/a"');
    expect(await markdown('![x](https://evil.test/p.png)')).not.toContain('<img');
  });

  test('keeps its form', async () => {
    const shown = await markdown('# T\n\n- a\n- **b**\n\n```js\n1 < 2\n```\n\n| h |\n|---|\n| c |\n');
    for (const part of ['<h3>T</h3>', '<li>', '<strong>b</strong>', '1 &lt; 2', '<td>c</td>']) {
      expect(shown).toContain(part);
    }
  });
});

test.each([
  ['quotes', '>'.repeat(20_000)],
  ['lists', `${'- '.repeat(500)}x`],
  ['strong text', `${'**a '.repeat(200)}${' b**'.repeat(200)}`],
])('markdown of deeply nested %s is shown as plain text', async (_, text) => {
  const shown = text.replaceAll('>', '&gt;');
  expect(await markdown(text)).toBe(`<div class="markdown"><p class="whitespace-pre-wrap">${shown}</p></div>`);
  expect(await markdown('> > - **deep**')).toContain('<strong>deep</strong>');
});

describe('text that is approved', () => {
  test('shows invisible characters', async () => {
    expect(await visible('ls \u202e# txt\u202c')).toBe('ls |U+202E|# txt|U+202C|');
    expect(await visible('a\u200bb\u0007c\u{e0041}')).toBe('a|U+200B|b|U+0007|c|U+E0041|');
  });

  test('counts long runs of blanks instead of letting them push the rest out of view', async () => {
    expect(await visible(`ls${' '.repeat(3000)}; touch X`)).toBe('ls|␠ 3000 blanks|; touch X');
    expect(await visible(`ls${'\n'.repeat(40)}; touch X`)).toBe('ls|␠ 40 blanks|; touch X');
    expect(await visible('  two  three\n\nlines')).toBe('  two  three\n\nlines');
  });

  test('has no terminal escape sequences', async () => {
    const { stripEscapes: withoutEscapes } = await import('./visible-text.tsx');
    expect(
      withoutEscapes(
        '\u001b[2J\u001b[1;1H\u001b]8;;https://evil.test\u0007Approved\u001b]8;;\u0007 \u001b[8mhid\u001b[0m',
      ),
    ).toBe('Approved hid');
  });
});
