import type { BlobStore } from '../../kernel/ports.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { FILE_TEMPLATE, fileUri, OUTPUT_TEMPLATE, readUri } from '../../mcp/server/resource-uri.ts';
import type { ResourceContent, Resources } from '../../mcp/server/resources.ts';
import { readFile } from '../../tools/fs/read-file.ts';
import { glob } from '../../tools/search/glob.ts';

export interface ResourceParts {
  readonly blobs: BlobStore;
  /** Reports changed paths, relative to the workspace. */
  watch?(listener: (path: string) => void): () => void;
  observe?(): void;
}

const MAX_LISTED = 500;

/** Offers the files of the workspace and truncated outputs to MCP clients. A file is read by the tool `read_file`. */
export function workspaceResources({ blobs, watch, observe }: ResourceParts): Resources {
  return {
    templates: [
      { uriTemplate: FILE_TEMPLATE, name: 'workspace file', description: 'A file of the workspace, by its path' },
      { uriTemplate: OUTPUT_TEMPLATE, name: 'whole output', description: 'An output that was too long to show whole' },
    ],
    list: () => ({
      tool: glob.name,
      args: { pattern: '**', limit: MAX_LISTED },
      toAnswer: (found) => (found as { paths: string[] }).paths.map((path) => ({ uri: fileUri(path), name: path })),
    }),
    read(uri) {
      const named = readUri(uri);
      if (named === undefined) return unknown(uri);
      if (named.kind === 'output') return output(uri, named.handle);
      return {
        tool: readFile.name,
        args: { path: named.path, encoding: 'base64' },
        toAnswer: (file) => [contentOf(uri, bytesOf(file as Encoded))],
      };
    },
    ...(observe !== undefined && { observe }),
    ...(watch !== undefined && { watch: (listener) => watch((path) => listener(fileUri(path))) }),
  };

  async function output(uri: string, handle: string): Promise<Result<ResourceContent[]>> {
    const bytes = await blobs.get(handle);
    return bytes.ok ? ok([contentOf(uri, bytes.value)]) : bytes;
  }
}

async function unknown(uri: string): Promise<Result<never>> {
  return fail('FILE_NOT_FOUND', `${uri} is not a resource. Files are ${FILE_TEMPLATE}.`);
}

interface Encoded {
  readonly content: string;
  readonly encoding: string;
}

/** The person who approved the call may have edited the encoding. */
function bytesOf({ content, encoding }: Encoded): Uint8Array {
  return Buffer.from(content, encoding === 'base64' ? 'base64' : 'utf8');
}

function contentOf(uri: string, bytes: Uint8Array): ResourceContent {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return { uri, mimeType: 'text/plain', text };
  } catch {
    // It is not text.
  }
  return { uri, mimeType: 'application/octet-stream', blob: Buffer.from(bytes).toString('base64') };
}
