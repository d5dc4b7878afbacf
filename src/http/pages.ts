import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Hono } from 'hono';
import type { Route } from '../protocol/route.ts';
import { ROUTES } from '../protocol/routes.ts';
import type { HonoEnv } from './handler.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
};

/** Paths of the web app's own screens: all are served by its one page. */
const SCREENS = /^\/(?:chat|files|tools|history)(?:\/|$)/;

/** Serves files that contain no data, to everyone. The list of files is read once, so that no path leads elsewhere. */
export function registerPages(api: Hono<HonoEnv>, folder: string | undefined): void {
  const docs = docsPage();
  api.get('/docs', () => html(docs));
  api.get('/docs.css', () => new Response(DOCS_STYLE, { headers: { 'Content-Type': TYPES['.css'] ?? '' } }));
  const files = folder === undefined ? Promise.resolve(new Set<string>()) : listed(folder);
  api.get('*', async (c, next) => {
    const { path } = c.req;
    const known = await files;
    if (folder === undefined || !known.has('/index.html')) return path === '/' ? html(startPage()) : next();
    const name = path === '/' || SCREENS.test(path) ? '/index.html' : path;
    return known.has(name) ? serveFile(join(folder, name), name) : next();
  });
}

/** Returns an empty list for a missing folder: the API is served all the same. */
async function listed(folder: string): Promise<ReadonlySet<string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const plain = entries.filter((entry) => entry.isFile());
  return new Set(plain.map((entry) => join(entry.parentPath, entry.name).slice(folder.length)));
}

function html(text: string): Response {
  return new Response(text, { headers: { 'Content-Type': TYPES['.html'] ?? '' } });
}

async function serveFile(path: string, name: string): Promise<Response> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const bytes = await file.readFile();
    const hashed = /-[A-Za-z0-9_-]{8,}\.\w+$/.test(name);
    return new Response(new Uint8Array(bytes), {
      headers: {
        'Content-Type': TYPES[extname(name)] ?? 'application/octet-stream',
        'Cache-Control': hashed ? 'public, max-age=31536000, immutable' : 'no-cache',
      },
    });
  } finally {
    await file.close();
  }
}

/** A page without scripts that describes the API to people. Programs read /openapi.json. */
function docsPage(): string {
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

function startPage(): string {
  return page('Toolwright', '<p>The server is running. <a href="/docs">API documentation</a>.</p>');
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
<link rel="stylesheet" href="/docs.css"></head><body><main><h1>${title}</h1>
${body}
</main></body></html>
`;
}

const DOCS_STYLE = `
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
