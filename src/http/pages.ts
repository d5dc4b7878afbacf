import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Hono } from 'hono';
import { DOCS_STYLE, docsPage, startPage } from './docs-page.ts';
import type { Env } from './handler.ts';

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

/** Addresses of the page's own screens: all are the one page. */
const SCREENS = /^\/(?:chat|files|tools|history)(?:\/|$)/;

/** What anybody may load: no data is in it. Files are named in a list that is read once, so that no path leads elsewhere. */
export function registerPages(api: Hono<Env>, folder: string | undefined): void {
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

/** A folder that is not there has no pages: the API is served all the same. */
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
