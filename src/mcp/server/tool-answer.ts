import { type CallToolResult, type ContentBlock, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { type ErrorCode, knownCode } from '../../kernel/error.ts';
import type { Access } from '../../kernel/tool/access.ts';
import type { Attachment, Tool } from '../../kernel/tool/tool.ts';
import type { ToolResult } from '../../kernel/tool/tool-result.ts';
import { wentWell } from '../../protocol/command-value.ts';
import { fileUri, outputUri } from './resource-uri.ts';

/** How each failure is reported: as a result the model reads, or as a protocol error. */
const FAILURE_KIND: Readonly<Record<ErrorCode, 'result' | ProtocolErrorCode>> = {
  INVALID_INPUT: 'result',
  UNKNOWN_TOOL: ProtocolErrorCode.InvalidParams,
  TOOL_DISABLED: 'result',
  INVALID_PATH: 'result',
  FILE_NOT_FOUND: 'result',
  PERMISSION_DENIED: 'result',
  CONFLICT: 'result',
  TOO_LARGE: 'result',
  APPROVAL_DENIED: 'result',
  APPROVAL_EXPIRED: 'result',
  TIMEOUT: 'result',
  CANCELLED: 'result',
  EXECUTION_ERROR: 'result',
  NETWORK_ERROR: 'result',
  NOT_CONFIGURED: 'result',
  SANDBOX_UNAVAILABLE: 'result',
  INTERNAL: 'result',
};

/**
 * Converts a result for the client: text for the model, the value for programs, and links to larger content. A command with
 * an exit code other than 0 is an error to the client, with its whole value.
 */
export function toolAnswer(
  tool: Tool | undefined,
  result: ToolResult,
  { access, root }: { readonly access: readonly Access[]; readonly root: string },
): CallToolResult {
  if (!result.ok) return failureAnswer(result);
  const links = [...changedFiles(access, root), ...wholeOutput(result)];
  const attached = tool?.attachments?.(result.value, result.metadata) ?? [];
  const structured = tool?.outputJson === undefined ? {} : { structuredContent: result.value as StructuredContent };
  const text: ContentBlock[] = result.text === '' && attached.length > 0 ? [] : [{ type: 'text', text: result.text }];
  return {
    content: [...text, ...attached.map(toBlock), ...links],
    ...structured,
    ...(!wentWell(result) && { isError: true }),
    _meta: { 'toolwright/call': result.callId },
  };
}

type StructuredContent = NonNullable<CallToolResult['structuredContent']>;

/** Puts the code into `_meta`: structured content would be checked against the tool's schema for success. */
function failureAnswer(result: Extract<ToolResult, { ok: false }>): CallToolResult {
  const { code, message, details } = result.error;
  const answer = FAILURE_KIND[knownCode(code)];
  if (answer !== 'result') throw new ProtocolError(answer, result.text, details);
  return {
    isError: true,
    content: [{ type: 'text', text: result.text }, ...wholeOutput(result)],
    _meta: { 'toolwright/call': result.callId, 'toolwright/error': { code, message, ...(details && { details }) } },
  };
}

function changedFiles(access: readonly Access[], root: string): ContentBlock[] {
  return access.flatMap((each) => {
    if (each.kind !== 'fs.write') return [];
    return [changedFile(each.path.startsWith(`${root}/`) ? each.path.slice(root.length + 1) : each.path)];
  });
}

function changedFile(path: string): ContentBlock {
  return { type: 'resource_link', uri: fileUri(path), name: path, description: 'The changed file' };
}

function wholeOutput({ metadata }: ToolResult): ContentBlock[] {
  const { artifact } = metadata;
  if (typeof artifact !== 'string') return [];
  const description = 'The full output; the text shows a part of it';
  return [
    { type: 'resource_link', uri: outputUri(artifact), name: 'whole output', mimeType: 'text/plain', description },
  ];
}

function toBlock(attachment: Attachment): ContentBlock {
  if (attachment.kind === 'file') return changedFile(attachment.path);
  if (attachment.kind !== 'resource') {
    return { type: attachment.kind, mimeType: attachment.mimeType, data: attachment.data };
  }
  const { uri, mimeType, text, data } = attachment;
  const known = { uri, ...(mimeType !== undefined && { mimeType }) };
  if (text !== undefined) return { type: 'resource', resource: { ...known, text } };
  if (data !== undefined) return { type: 'resource', resource: { ...known, blob: data } };
  return { type: 'resource_link', ...known, name: uri };
}
