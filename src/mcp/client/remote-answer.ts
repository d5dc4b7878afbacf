import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { Attachment } from '../../kernel/tool/tool.ts';

/** Converts the answer of a remote tool. Programs get its structured content where it has one, else its text. */
export function remoteAnswer(server: string, answer: CallToolResult, structured: boolean): Result<unknown> {
  const text = answer.content.map(textOf).filter(Boolean).join('\n');
  if (answer.isError) return fail('EXECUTION_ERROR', text || `${server} failed without a message.`);
  const attachments = answer.content.flatMap(attachmentOf);
  const value = structured && answer.structuredContent !== undefined ? answer.structuredContent : text;
  return ok(value, { server, text, ...(attachments.length > 0 && { attachments }) });
}

function textOf(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
    case 'audio':
      return `[${block.type}: ${block.mimeType}]`;
    case 'resource':
      return 'text' in block.resource ? block.resource.text : `[resource: ${block.resource.uri}]`;
    case 'resource_link':
      return `[${block.title ?? block.name}: ${block.uri}]`;
    default:
      return '';
  }
}

function attachmentOf(block: ContentBlock): Attachment[] {
  if (block.type === 'image' || block.type === 'audio') {
    return [{ kind: block.type, mimeType: block.mimeType, data: block.data }];
  }
  if (block.type !== 'resource') return [];
  const { uri, mimeType } = block.resource;
  const known = { kind: 'resource' as const, uri, ...(mimeType !== undefined && { mimeType }) };
  if ('blob' in block.resource) return [{ ...known, data: block.resource.blob }];
  return [{ ...known, text: block.resource.text }];
}
