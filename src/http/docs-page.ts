import type { Route } from '../protocol/route.ts';
import { ROUTES } from '../protocol/routes.ts';

/** A page without scripts: what the API offers, for people. Programs read /openapi.json. */
export function docsPage(): string {
  const rows = Object.entries(ROUTES)
    .map(([name, { method, path, summary, needs, ...rest }]) => {
      const { problems = [] } = rest as Pick<Route, 'problems'>;
      return `<tr><td><code>${method}</code></td><td><code>${escaped(path)}</code></td><td>${escaped(summary)}<br><small>${name}${problems.length > 0 ? ` · ${problems.join(', ')}` : ''}</small></td><td>${needs}</td></tr>`;
    })
    .join('\n');
  return page(
    'Toolwright API',
    `<p>Send the token as <code>Authorization: Bearer TOKEN</code>; it is in the file <code>token</code> of the state
directory. <code>/openapi.json</code> has every schema (OpenAPI 3.1).</p>
<table><thead><tr><th></th><th>path</th><th>what</th><th>role</th></tr></thead><tbody>
${rows}
</tbody></table>`,
  );
}

export function startPage(): string {
  return page('Toolwright', '<p>The server is up. <a href="/docs">What its API offers</a>.</p>');
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
<link rel="stylesheet" href="/docs.css"></head><body><main><h1>${title}</h1>
${body}
</main></body></html>
`;
}

export const DOCS_STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid #8884; }
code { font-family: ui-monospace, monospace; }
small { opacity: .7; }
`;

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (found) => `&#${found.charCodeAt(0)};`);
}
