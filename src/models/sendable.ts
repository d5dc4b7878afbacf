import { createHash } from 'node:crypto';
import type { Message, MessagePart } from '../kernel/call/message.ts';
import type { ModelRequest } from './model.ts';

/** What providers take for a name in the history, whoever made it up. */
const LAWFUL = /^[\w-]{1,64}$/;
const NAMELESS = 'unnamed_tool';

/**
 * The same request as every provider takes it. One name with a dot or half a character anywhere in the history is refused,
 * and since the history is sent again, so is every turn after it.
 */
export function sendable({ system, tools, messages }: ModelRequest): ModelRequest {
  return wellFormed({ system, tools, messages: messages.map(withLawfulNames) });
}

/** For formats that take no other ids; the same on both sides of a call. */
export function lawfulId(id: string): string {
  return LAWFUL.test(id) ? id : `call_${createHash('sha256').update(id).digest('hex').slice(0, 24)}`;
}

function withLawfulNames(message: Message): Message {
  if (message.role !== 'assistant' || message.parts.every(isLawful)) return message;
  const parts = message.parts.map((part) => (isLawful(part) ? part : { ...part, name: lawfulName(part.name) }));
  return { ...message, parts };
}

function isLawful(part: MessagePart): part is Exclude<MessagePart, { type: 'call' }> {
  return part.type !== 'call' || LAWFUL.test(part.name);
}

function lawfulName(name: string): string {
  return name.replace(/[^\w-]/g, '_').slice(0, 64) || NAMELESS;
}

/** Halves of characters that were parted somewhere become replacement characters. */
function wellFormed<T>(value: T): T {
  if (typeof value === 'string') return (value.isWellFormed() ? value : value.toWellFormed()) as T;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(wellFormed) as T;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [wellFormed(key), wellFormed(inner)])) as T;
}
