import type { Message, MessagePart, Stop, Usage } from '../kernel/call/message.ts';
import { ArgumentText } from './call-arguments.ts';
import type { TurnReader, WholeTurn } from './endpoint.ts';
import { countOf, fieldsOf, type JsonFields } from './fields.ts';
import type { Model, ModelRequest, OfferedTool, TurnDelta } from './model.ts';
import type { ModelOptions } from './model-options.ts';
import { portableId } from './portable-request.ts';
import { openAnthropicSdk } from './sdk.ts';
import { failureOfEvent, type TurnFailure, turnFailure } from './turn-failure.ts';
import { type Wire, wireModel } from './wire-model.ts';

const WIRE = 'anthropic';
const VERSION = '2023-06-01';

/** Anthropic Messages, and every endpoint that speaks it. */
export function anthropicModel(options: ModelOptions): Model {
  return wireModel(MESSAGES, options);
}

const MESSAGES: Wire = {
  called: 'Messages',
  openSdk: openAnthropicSdk,
  path: '/v1/messages',
  headers: ({ baseUrl, key }) => ({ 'anthropic-version': VERSION, ...keyHeaders(baseUrl, key) }),
  toBody,
  createReader: (who, tell) => new MessagesReader(who, tell),
};

/** Compatible endpoints expect the key in one header or the other; Anthropic accepts only one of them. */
function keyHeaders(baseUrl: string, key: string | undefined): Record<string, string> {
  if (key === undefined) return {};
  const own = new URL(baseUrl).hostname.endsWith('anthropic.com');
  return own ? { 'x-api-key': key } : { 'x-api-key': key, authorization: `Bearer ${key}` };
}

const CACHED = { cache_control: { type: 'ephemeral' } };

/** Puts stable parts first and marks them, so that the next turn reads them from the cache: tools, system, history. */
function toBody({ model, maxTokens, extra }: ModelOptions, { system, tools, messages }: ModelRequest): object {
  const turns = toTurns(messages);
  const last = turns.findLast(({ role }) => role === 'user')?.content;
  if (last) last[last.length - 1] = { ...last.at(-1), ...CACHED };
  return {
    model,
    max_tokens: maxTokens,
    stream: true,
    ...(system !== '' && { system: [{ type: 'text', text: system, ...CACHED }] }),
    ...(tools.length > 0 && { tools: tools.map((tool, index) => toTool(tool, index === tools.length - 1)) }),
    messages: turns,
    ...extra,
  };
}

function toTool({ name, description, schema }: OfferedTool, isLast: boolean): object {
  return { name, description, input_schema: schema, ...(isLast && CACHED) };
}

interface MessagesTurn {
  role: 'user' | 'assistant';
  content: object[];
}

/** Joins neighbouring messages of one role, so that results come before a person's next text, in one message. */
function toTurns(messages: readonly Message[]): MessagesTurn[] {
  const turns: MessagesTurn[] = [];
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = toBlocks(message);
    if (content.length === 0) continue;
    const before = turns.at(-1);
    if (before?.role === role) before.content.push(...content);
    else turns.push({ role, content });
  }
  return turns;
}

function toBlocks(message: Message): object[] {
  if (message.role === 'user') return toText(message.text);
  if (message.role === 'results')
    return message.results.map(({ id, text, isError }) => ({
      type: 'tool_result',
      tool_use_id: portableId(id),
      content: text,
      ...(isError && { is_error: true }),
    }));
  const parts = message.stop.reason === 'paused' ? message.parts : withoutLastThoughts(message.parts);
  return parts.flatMap((part) => {
    if (part.type === 'text') return toText(part.text);
    if (part.type === 'call') return [{ type: 'tool_use', id: portableId(part.id), name: part.name, input: part.args }];
    return part.wire === WIRE ? [part.block as object] : [];
  });
}

/**
 * Drops trailing thinking, which the API refuses at the end of a turn, as after a cut. Results of its own tools stay.
 */
function withoutLastThoughts(parts: readonly MessagePart[]): readonly MessagePart[] {
  return parts.slice(0, parts.findLastIndex((part) => !isThought(part)) + 1);
}

function isThought(part: MessagePart): boolean {
  if (part.type === 'text') return part.text.trim() === '';
  return part.type === 'thinking' && ['thinking', 'redacted_thinking'].includes(String(fieldsOf(part.block).type));
}

/** Drops text of nothing but white space, which the API refuses. */
function toText(text: string): object[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

interface Block {
  readonly start: JsonFields;
  readonly text: string[];
  readonly args: ArgumentText;
  signature: string;
  stopped: boolean;
}

class MessagesReader implements TurnReader {
  readonly #who: string;
  readonly #tell: (heard: TurnDelta) => void;
  readonly #blocks = new Map<number, Block>();
  #usage: JsonFields = {};
  #stop: string | null = null;
  #whole = false;

  constructor(who: string, tell: (heard: TurnDelta) => void) {
    this.#who = who;
    this.#tell = tell;
  }

  push(event: JsonFields): TurnFailure | undefined {
    switch (event.type) {
      case 'message_start':
        this.#count(fieldsOf(event.message).usage);
        return undefined;
      case 'content_block_start':
        return this.#start(event);
      case 'content_block_delta':
        return this.#delta(event);
      case 'content_block_stop': {
        const block = this.#blocks.get(event.index as number);
        if (block !== undefined) block.stopped = true;
        return undefined;
      }
      case 'message_delta': {
        const { stop_reason: stop } = fieldsOf(event.delta);
        if (typeof stop === 'string') this.#stop = stop;
        this.#count(event.usage);
        return undefined;
      }
      case 'message_stop':
        this.#whole = true;
        return undefined;
      case 'error':
        return failureOfEvent(this.#who, event.error);
      default:
        // ping, and events of future versions.
        return undefined;
    }
  }

  finish(): WholeTurn | undefined {
    if (!this.#whole || this.#stop === null) return undefined;
    const blocks = [...this.#blocks.entries()].sort(([a], [b]) => a - b).map(([, block]) => block);
    const cut = this.#stop === 'max_tokens' || this.#stop === 'model_context_window_exceeded';
    const parts = blocks.flatMap((block, index) => toPart(block, cut && index === blocks.length - 1));
    return { parts, stop: toStop(this.#stop), usage: toUsage(this.#usage) };
  }

  #start({ index, content_block: start }: JsonFields): TurnFailure | undefined {
    if (typeof index !== 'number' || typeof start !== 'object' || start === null) return this.#malformed();
    const block: Block = {
      start: start as JsonFields,
      text: [],
      args: new ArgumentText(),
      signature: '',
      stopped: false,
    };
    this.#blocks.set(index, block);
    const { type, name, text, thinking } = block.start;
    if (type === 'tool_use') this.#tell({ kind: 'call', text: String(name) });
    for (const begun of [text, thinking]) if (typeof begun === 'string') block.text.push(begun);
    return undefined;
  }

  #delta({ index, delta }: JsonFields): TurnFailure | undefined {
    const block = this.#blocks.get(index as number);
    if (block === undefined || block.stopped || typeof delta !== 'object' || delta === null) return this.#malformed();
    const { type, text, thinking, partial_json: json, signature } = delta as JsonFields;
    if (type === 'text_delta' && typeof text === 'string') {
      block.text.push(text);
      this.#tell({ kind: 'text', text });
    } else if (type === 'thinking_delta' && typeof thinking === 'string') {
      block.text.push(thinking);
      this.#tell({ kind: 'thinking', text: thinking });
    } else if (type === 'input_json_delta' && typeof json === 'string') block.args.add(json);
    else if (type === 'signature_delta' && typeof signature === 'string') block.signature += signature;
    return undefined;
  }

  #count(usage: unknown): void {
    this.#usage = { ...this.#usage, ...fieldsOf(usage) };
  }

  #malformed(): TurnFailure {
    return turnFailure('NETWORK_ERROR', `${this.#who} sent inconsistent events`, { retry: true });
  }
}

/** Keeps blocks that are neither text nor a call unchanged: thinking must go back as it came. */
function toPart({ start, text, args, signature, stopped }: Block, cut: boolean): MessagePart[] {
  const said = text.join('');
  if (start.type === 'text') return said === '' ? [] : [{ type: 'text', text: said }];
  if (start.type === 'tool_use') return [args.toCall(String(start.id), String(start.name), { cut: cut || !stopped })];
  if (start.type === 'thinking') {
    const block = { ...start, thinking: said, signature: signature || (start.signature ?? '') };
    // Cut off before it was signed, so it cannot be sent back.
    if (cut && block.signature === '') return [];
    return [{ type: 'thinking', text: said, wire: WIRE, block }];
  }
  // Input of the provider's own tools arrives in pieces like any arguments.
  const { args: input } = args.toCall('', '');
  return [
    { type: 'thinking', text: '', wire: WIRE, block: Object.keys(input).length > 0 ? { ...start, input } : start },
  ];
}

const STOPS: Record<string, Stop['reason']> = {
  end_turn: 'end',
  stop_sequence: 'end',
  tool_use: 'calls',
  max_tokens: 'length',
  pause_turn: 'paused',
  refusal: 'refused',
  model_context_window_exceeded: 'window',
};

function toStop(word: string): Stop {
  const reason = STOPS[word];
  return reason === undefined ? { reason: 'unknown', detail: word } : { reason };
}

function toUsage(usage: JsonFields): Usage {
  return {
    input: countOf(usage.input_tokens),
    output: countOf(usage.output_tokens),
    cacheRead: countOf(usage.cache_read_input_tokens),
    cacheWrite: countOf(usage.cache_creation_input_tokens),
  };
}
