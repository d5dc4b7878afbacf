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
  api.get('/docs', () => new Response(docs, { headers: { 'Content-Type': TYPES['.html'] ?? '' } }));
  api.get('/docs.css', () => new Response(DOCS_STYLE, { headers: { 'Content-Type': TYPES['.css'] ?? '' } }));
  if (folder === undefined) {
    api.get('/', () => new Response(startPage(), { headers: { 'Content-Type': TYPES['.html'] ?? '' } }));
    return;
  }
  const files = listed(folder);
  api.get('*', async (c, next) => {
    const path = c.req.path === '/' ? '/index.html' : c.req.path;
    const known = await files;
    if (known.has(path)) return serveFile(join(folder, path), path);
    return SCREENS.test(path) ? serveFile(join(folder, 'index.html'), '/index.html') : next();
  });
}

async function listed(folder: string): Promise<ReadonlySet<string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const plain = entries.filter((entry) => entry.isFile());
  return new Set(plain.map((entry) => join(entry.parentPath, entry.name).slice(folder.length)));
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
