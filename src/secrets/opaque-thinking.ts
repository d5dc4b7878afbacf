import type { NewEvent } from '../kernel/call/event.ts';
import type { MessagePart, ThinkingPart } from '../kernel/call/message.ts';
import type { SecretHider } from './hide-secrets.ts';

/** Fields of thinking that only its provider can read. */
const OPAQUE = new Set(['encrypted_content', 'signature', 'data']);

/**
 * Puts signed and encrypted fields of thinking back into `shown`, the record of what was `said`: a provider accepts them
 * only unchanged, and the shape of a secret in them is chance. Thinking whose words had to be hidden is marked incomplete.
 */
export function keepOpaqueThinking<E extends NewEvent>(shown: E, said: E, hideKnown: SecretHider['hideKnown']): E {
  if (shown.type !== 'message.added' || said.type !== 'message.added') return shown;
  const { turn } = shown.data;
  if (turn === undefined) return shown;
  const parts = turn.parts.map((part, at) => {
    const before = said.data.turn?.parts[at];
    return isThought(part) && isThought(before) ? thoughtOf(part, before, hideKnown) : part;
  });
  return { ...shown, data: { ...shown.data, turn: { ...turn, parts } } };
}

type Thought = ThinkingPart & { readonly block: object };

function isThought(part: MessagePart | undefined): part is Thought {
  return part?.type === 'thinking' && typeof part.block === 'object' && part.block !== null;
}

function thoughtOf(shown: Thought, said: Thought, hideKnown: SecretHider['hideKnown']): ThinkingPart {
  const opaque = Object.entries(said.block).filter(([key, value]) => OPAQUE.has(key) && typeof value === 'string');
  const block = { ...shown.block, ...Object.fromEntries(opaque.map(([key, value]) => [key, hideKnown(value)])) };
  const isWhole = JSON.stringify(block) === JSON.stringify(said.block);
  return { ...shown, block, ...(!isWhole && { isIncomplete: true }) };
}
