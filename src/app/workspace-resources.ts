import type { ExecutionContext } from '../kernel/execution-context.ts';
import type { BlobStore } from '../kernel/ports.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import { FILE_TEMPLATE, fileUri, OUTPUT_TEMPLATE, readUri } from '../mcp/server/resource-uri.ts';
import type { ResourceContent, Resources } from '../mcp/server/resources.ts';
import type { ToolExecutor } from '../runtime/executor.ts';
import { readFile } from '../tools/fs/read-file.ts';
import { glob } from '../tools/search/glob.ts';

export interface ResourceParts {
  readonly executor: ToolExecutor;
  readonly context: ExecutionContext;
  readonly blobs: BlobStore;
  /** Tells the paths that changed, relative to the workspace. */
  watch?(listener: (path: string) => void): () => void;
  observe?(): void;
}

const MOST_LISTED = 500;

/** The workspace's files and what truncation kept, for MCP clients. A file is read by the tool that reads files. */
export function workspaceResources({ executor, context, blobs, watch, observe }: ResourceParts): Resources {
  return {
    templates: [
      { uriTemplate: FILE_TEMPLATE, name: 'workspace file', description: 'A file of the workspace, by its path' },
      { uriTemplate: OUTPUT_TEMPLATE, name: 'whole output', description: 'An output that was too long to show whole' },
    ],
    async list(session) {
      const found = await executor.execute(glob.name, inSession(session), { pattern: '**', limit: MOST_LISTED });
      if (!found.ok) return { ok: false, error: found.error };
      const { paths } = found.value as { paths: string[] };
      return ok(paths.map((path) => ({ uri: fileUri(path), name: path })));
    },
    async read(uri, session) {
      const named = readUri(uri);
      if (named === undefined) return fail('FILE_NOT_FOUND', `${uri} is no resource here. Files are ${FILE_TEMPLATE}.`);
      const bytes = named.kind === 'file' ? await bytesOf(named.path, session) : await blobs.get(named.handle);
      return bytes.ok ? ok([contentOf(uri, bytes.value)]) : bytes;
    },
    ...(observe !== undefined && { observe }),
    ...(watch !== undefined && { watch: (listener) => watch((path) => listener(fileUri(path))) }),
  };

  async function bytesOf(path: string, session: string): Promise<Result<Uint8Array>> {
    const read = await executor.execute(readFile.name, inSession(session), { path, encoding: 'base64' });
    if (!read.ok) return { ok: false, error: read.error };
    return ok(Buffer.from((read.value as { content: string }).content, 'base64'));
  }

  function inSession(sessionId: string) {
    return { ...context, sessionId };
  }
}

function contentOf(uri: string, bytes: Uint8Array): ResourceContent {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return { uri, mimeType: 'text/plain', text };
  } catch {
    // It is no text.
  }
  return { uri, mimeType: 'application/octet-stream', blob: Buffer.from(bytes).toString('base64') };
}
