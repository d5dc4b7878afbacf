import { hash } from 'node:crypto';
import type { Message, MessagePart } from '../kernel/call/message.ts';
import type { ModelRequest } from './model.ts';

/** Tool names every provider accepts in the history. */
const PORTABLE_NAME = /^[\w-]{1,64}$/;
const UNNAMED_TOOL = 'unnamed_tool';

/**
 * Makes a request that every provider accepts. One name with a dot or half a surrogate pair anywhere in the history is
 * refused, and since the history is sent again, so is every later turn.
 */
export function toPortableRequest({ system, tools, messages }: ModelRequest): ModelRequest {
  return wellFormed({ system, tools, messages: messages.map(withPortableNames) });
}

/** Makes an id that every format accepts, the same on both sides of a call. */
export function portableId(id: string): string {
  return PORTABLE_NAME.test(id) ? id : `call_${hash('sha256', id, 'hex').slice(0, 24)}`;
}

function withPortableNames(message: Message): Message {
  if (message.role !== 'assistant' || message.parts.every(hasPortableName)) return message;
  const parts = message.parts.map((part) =>
    hasPortableName(part) ? part : { ...part, name: portableName(part.name) },
  );
  return { ...message, parts };
}

function hasPortableName(part: MessagePart): part is Exclude<MessagePart, { type: 'call' }> {
  return part.type !== 'call' || PORTABLE_NAME.test(part.name);
}

function portableName(name: string): string {
  return name.replace(/[^\w-]/g, '_').slice(0, 64) || UNNAMED_TOOL;
}

/** Replaces lone surrogates by replacement characters. */
function wellFormed<T>(value: T): T {
  if (typeof value === 'string') return (value.isWellFormed() ? value : value.toWellFormed()) as T;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(wellFormed) as T;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [wellFormed(key), wellFormed(inner)])) as T;
}
