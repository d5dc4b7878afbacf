/** Pages of a real page's size and shape, made up: about so many bytes of articles, documentation or tables. */
export function largePages(bytes: number): Record<'article' | 'documentation' | 'tables', string> {
  return {
    article: page(
      bytes,
      (index) =>
        `<section><h2 id="s${index}">Part ${index}</h2>${'<p>'.concat(SENTENCE, ' See <a href="/notes/', String(index), '?utm_source=x">note ', String(index), '</a> for <em>more</em> of it. ', SENTENCE, '</p>').repeat(3)}<blockquote><p>${SENTENCE}</p></blockquote></section>`,
    ),
    documentation: page(
      bytes,
      (index) =>
        `<section id="f${index}"><h2>function ${index}<a class="headerlink" href="#f${index}">¶</a></h2><p>${SENTENCE} It takes <code>input</code> and gives <code>output</code>.</p><ul><li>first <b>of all</b></li><li>second<ul><li>nested</li></ul></li></ul><div class="highlight"><pre><code class="language-ts"><span class="k">export</span> <span class="k">function</span> <span class="nf">f${index}</span>(input: string) {\n  <span class="k">return</span> input.length &lt; ${index};\n}</code></pre></div></section>`,
    ),
    tables: page(
      bytes,
      (index) =>
        `<h3>Table ${index}</h3><table><thead><tr><th>Name</th><th>Type</th><th>Meaning</th></tr></thead><tbody>${Array.from({ length: 20 }, (_, row) => `<tr><td><code>option_${row}</code></td><td>number</td><td>What it is good for, see <a href="/options/${row}">here</a></td></tr>`).join('')}</tbody></table>`,
    ),
  };
}

const SENTENCE =
  'The quick brown fox jumps over the lazy dog, and then it thinks about what it has done, which takes a while, because foxes are careful about such things.';

function page(bytes: number, part: (index: number) => string): string {
  const head =
    '<!DOCTYPE html><html><head><title>A large page</title><style>.x{color:red}</style><script>var a = 1;</script></head><body><header><a href="/">Site</a></header><nav><ul>' +
    '<li><a href="/a">A</a></li>'.repeat(40) +
    '</ul></nav><main><h1>A large page</h1>';
  const parts: string[] = [head];
  for (let length = head.length, index = 0; length < bytes; index++) {
    const next = part(index);
    parts.push(next);
    length += next.length;
  }
  return `${parts.join('\n')}</main><footer>The end.</footer></body></html>`;
}
