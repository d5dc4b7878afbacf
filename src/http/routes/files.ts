import { randomUUID } from 'node:crypto';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { Access } from '../../kernel/tool/access.ts';
import type { Change, Files } from '../../kernel/world/workspace.ts';
import type { FileContent } from '../../protocol/files.ts';
import { openExternalSession, recordExternal } from '../../runtime/pipeline/record-external.ts';
import type { Backend, WorkspaceBackend } from '../backend.ts';
import type { Credential } from '../credentials.ts';
import { type Handlers, json } from '../handler.ts';
import { failureResponse, refuse } from '../problem.ts';
import { workspacesFor } from '../session-lookup.ts';

const MAX_FILE_BYTES = 8 * 1024 * 1024;

/** Lets a person read files, through the same path resolution and policy as the tools. */
export function fileRoutes(
  backend: Backend,
): Pick<Handlers, 'listFiles' | 'getGitStatus' | 'getFile' | 'saveFile' | 'readSecret'> {
  async function find(id: string | undefined, who: Credential): Promise<Result<WorkspaceBackend>> {
    const theirs = await workspacesFor(backend, who);
    const [first] = theirs.values();
    const workspace = id === undefined ? first : theirs.get(id);
    return workspace === undefined ? fail('FILE_NOT_FOUND', `Unknown workspace ${id ?? ''}.`) : ok(workspace);
  }

  return {
    async listFiles({ query, who }) {
      const workspace = await find(query.workspace, who);
      if (!workspace.ok) return failureResponse(workspace.error);
      const { path, recursive, hidden, limit } = query;
      const wish = { recursive: recursive === 'true', includeHidden: hidden === 'true', limit };
      const listed = await filesFor(workspace.value, who).list(path, wish);
      return listed.ok ? json(listed.value) : failureResponse(listed.error);
    },

    async getGitStatus({ query, who }) {
      const workspace = await find(query.workspace, who);
      if (!workspace.ok) return failureResponse(workspace.error);
      const status = await workspace.value.gitStatus();
      if (!status.ok) return failureResponse(status.error);
      return json({ git: status.value !== null, ...(status.value ?? { files: [], complete: true }) });
    },

    async getFile({ c, query, who }) {
      const workspace = await find(query.workspace, who);
      if (!workspace.ok) return failureResponse(workspace.error);
      const read = await contentOf(filesFor(workspace.value, who), query.path);
      if (!read.ok) return failureResponse(read.error);
      const etag = `"${read.value.version}"`;
      if (c.req.header('if-none-match') === etag) return new Response(null, { status: 304, headers: { ETag: etag } });
      return json(read.value, 200, { ETag: etag });
    },

    async saveFile({ c, query, body, who }) {
      const workspace = await find(query.workspace, who);
      if (!workspace.ok) return failureResponse(workspace.error);
      const expect = expected(c.req.header('if-match'), c.req.header('if-none-match'));
      if (expect === undefined) {
        const next = 'If-Match with the version you read, or If-None-Match: * for a new file.';
        return refuse('PRECONDITION_FAILED', `A write needs a precondition: send ${next}`);
      }
      const { path } = query;
      const content = body.encoding === 'base64' ? Buffer.from(body.content, 'base64') : { text: body.content };
      const change: Change = { kind: 'write', path, content, expect };
      const callId = `save-${randomUUID()}`;
      const files = filesFor(workspace.value, who, { callId, admitted: [{ kind: 'fs.write', path }] });
      const session = await openExternalSession(backend.ledger, workspace.value.id, who.name);
      const deed = { id: callId, session, action: 'person:save', args: { by: who.name, path } } as const;
      const saved = await recordExternal(backend.ledger, deed, () => files.apply([change]));
      if (!saved.ok && saved.error.code === 'CONFLICT') return refuse('PRECONDITION_FAILED', saved.error.message);
      if (!saved.ok) return failureResponse(saved.error);
      const [written] = saved.value;
      if (written?.kind !== 'write') return refuse('INTERNAL', 'The workspace gave no answer to a write.');
      const { size, version, created } = written;
      return json({ path: written.path, size, version, created, callId }, 200, { ETag: `"${version}"` });
    },

    async readSecret({ body, who }) {
      const workspace = await find(body.workspace, who);
      if (!workspace.ok) return failureResponse(workspace.error);
      const session = await openExternalSession(backend.ledger, workspace.value.id, who.name);
      const args = { by: who.name, path: body.path };
      const deed = { id: `look-${randomUUID()}`, session, action: 'person:read-secret', args } as const;
      const read = workspace.value.readForOwner(body.path);
      // The record gets that it was read, and nothing of what was; without the record there is no answer.
      const recorded = await recordExternal(backend.ledger, deed, async () => (read.ok ? ok(null) : read));
      if (!recorded.ok) return failureResponse(recorded.error);
      if (!read.ok) return failureResponse(read.error);
      const { path, text: content, encoding, size, modified } = read.value;
      return json({ path, content, encoding, size, modified }, 200, { 'Cache-Control': 'no-store' });
    },
  };
}

async function contentOf(files: Files, path: string): Promise<Result<FileContent>> {
  const text = await files.readText(path);
  if (text.ok) {
    const { text: content, encoding, size, modified, version } = text.value;
    return ok({ path: text.value.path, content, encoding, size, modified, version });
  }
  if (text.error.code !== 'INVALID_INPUT') return text;
  const raw = await files.readBytes(path, MAX_FILE_BYTES);
  if (!raw.ok) return raw;
  const { bytes, size, modified, version } = raw.value;
  const content = Buffer.from(bytes).toString('base64');
  return ok({ path: raw.value.path, content, encoding: 'base64', size, modified, version });
}

function expected(
  ifMatch: string | undefined,
  ifNoneMatch: string | undefined,
): 'absent' | { version: string } | undefined {
  if (ifNoneMatch === '*') return 'absent';
  const version = /^"([^"]+)"$/.exec(ifMatch ?? '')?.[1];
  return version === undefined ? undefined : { version };
}

function filesFor(
  workspace: WorkspaceBackend,
  { name }: Credential,
  { callId = 'look', admitted = null }: { callId?: string; admitted?: readonly Access[] | null } = {},
): Files {
  const { workingDir, timeout } = workspace.context;
  const { signal } = new AbortController();
  return workspace.world.files({ callId, session: `person:${name}`, workingDir, timeout, signal, admitted });
}
