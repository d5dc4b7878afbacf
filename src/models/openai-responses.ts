import type { Message, MessagePart, Stop, Usage } from '../kernel/call/message.ts';
import { ArgumentText } from './call-arguments.ts';
import type { TurnReader, WholeTurn } from './endpoint.ts';
import { countOf, fieldsOf, type JsonFields } from './fields.ts';
import type { Model, ModelRequest, TurnDelta } from './model.ts';
import type { ModelOptions } from './model-options.ts';
import { portableId } from './portable-request.ts';
import { failureOfEvent, type TurnFailure } from './turn-failure.ts';
import { OPENAI, type Wire, wireModel } from './wire-model.ts';

const WIRE = 'openai-responses';

/** OpenAI Responses without server-side state: every item is sent back, reasoning as its encrypted content. */
export function openaiResponsesModel(options: ModelOptions): Model {
  return wireModel(RESPONSES, options);
}

const RESPONSES: Wire = {
  ...OPENAI,
  called: 'Responses',
  path: '/responses',
  toBody,
  createReader: (who, tell) => new ResponsesReader(who, tell),
};

function toBody({ model, maxTokens, extra }: ModelOptions, { system, tools, messages }: ModelRequest): object {
  return {
    model,
    max_output_tokens: maxTokens,
    stream: true,
    store: false,
    include: ['reasoning.encrypted_content'],
    ...(system !== '' && { instructions: system }),
    input: messages.flatMap(toItems),
    ...(tools.length > 0 && {
      // Strict mode would make every optional parameter required; our own check is strict instead.
      tools: tools.map(({ name, description, schema }) => ({
        type: 'function',
        name,
        description,
        parameters: schema,
        strict: false,
      })),
    }),
    ...extra,
  };
}

function toItems(message: Message): object[] {
  if (message.role === 'user') return [{ role: 'user', content: [{ type: 'input_text', text: message.text }] }];
  if (message.role === 'results')
    return message.results.map(({ id, text }) => ({
      type: 'function_call_output',
      call_id: portableId(id),
      output: text,
    }));
  return message.parts.flatMap((part): object[] => {
    if (part.type === 'text') return [{ role: 'assistant', content: [{ type: 'output_text', text: part.text }] }];
    if (part.type === 'thinking') return part.wire === WIRE ? [part.block as object] : [];
    const { id, name, args } = part;
    return [{ type: 'function_call', call_id: portableId(id), name, arguments: JSON.stringify(args) }];
  });
}

interface Item {
  readonly fields: JsonFields;
  readonly text: string[];
  readonly args: ArgumentText;
  done: boolean;
}

class ResponsesReader implements TurnReader {
  readonly #who: string;
  readonly #tell: (heard: TurnDelta) => void;
  readonly #items = new Map<number, Item>();
  #end: { status: string; why: string | undefined; usage: Usage } | undefined;

  constructor(who: string, tell: (heard: TurnDelta) => void) {
    this.#who = who;
    this.#tell = tell;
  }

  push(event: JsonFields): TurnFailure | undefined {
    const at = event.output_index as number;
    switch (event.type) {
      case 'response.output_item.added':
        this.#items.set(at, { fields: fieldsOf(event.item), text: [], args: new ArgumentText(), done: false });
        this.#told(fieldsOf(event.item));
        return undefined;
      case 'response.output_item.done': {
        const item = this.#items.get(at) ?? { text: [], args: new ArgumentText() };
        this.#items.set(at, { ...item, fields: fieldsOf(event.item), done: true });
        return undefined;
      }
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        this.#items.get(at)?.text.push(String(event.delta));
        this.#tell({ kind: 'text', text: String(event.delta) });
        return undefined;
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        this.#tell({ kind: 'thinking', text: String(event.delta) });
        return undefined;
      case 'response.function_call_arguments.delta':
        this.#items.get(at)?.args.add(String(event.delta));
        return undefined;
      case 'response.completed':
      case 'response.incomplete':
        this.#end = toEnd(fieldsOf(event.response));
        return undefined;
      case 'response.failed':
        return failureOfEvent(this.#who, fieldsOf(event.response).error);
      case 'error':
        return failureOfEvent(this.#who, event.error ?? event);
      default:
        return undefined;
    }
  }

  finish(): WholeTurn | undefined {
    if (this.#end === undefined) return undefined;
    const { status, why, usage } = this.#end;
    const items = [...this.#items.entries()].sort(([a], [b]) => a - b).map(([, item]) => item);
    const cut = status === 'incomplete';
    const parts = items.flatMap((item, index) => toParts(item, !item.done || (cut && index === items.length - 1)));
    // The API refuses reasoning that nothing follows.
    while (parts.at(-1)?.type === 'thinking') parts.pop();
    const stop = toStop({ cut, why, parts, refused: items.some(isRefusal) });
    return { parts, stop, usage };
  }

  #told({ type, name }: JsonFields): void {
    if (type === 'function_call') this.#tell({ kind: 'call', text: String(name) });
  }
}

function toParts({ fields, text, args }: Item, cut: boolean): MessagePart[] {
  const { type, call_id: id, name, arguments: whole } = fields;
  if (type === 'function_call') {
    if (typeof whole === 'string' && whole !== '') args.replace(whole);
    return [args.toCall(String(id), String(name), { cut })];
  }
  if (type === 'message') {
    const said = contentOf(fields).map(({ text, refusal }) => String(text ?? refusal ?? ''));
    const all = (said.length > 0 ? said : text).join('');
    return all === '' ? [] : [{ type: 'text', text: all }];
  }
  const summary = (Array.isArray(fields.summary) ? fields.summary : []) as { text?: unknown }[];
  const thought = summary.map(({ text }) => String(text ?? '')).join('\n');
  return [{ type: 'thinking', text: thought, wire: WIRE, block: withoutStatus(fields) }];
}

/** Removes the status, which an item has in the output and not in the input. */
function withoutStatus({ status: _, ...block }: JsonFields): JsonFields {
  return block;
}

function isRefusal({ fields }: Item): boolean {
  return contentOf(fields).some(({ type }) => type === 'refusal');
}

function contentOf({ content }: JsonFields): JsonFields[] {
  return (Array.isArray(content) ? content : []) as JsonFields[];
}

function toEnd({ status, incomplete_details: details, usage }: JsonFields) {
  const { reason } = fieldsOf(details);
  return {
    status: String(status ?? 'completed'),
    why: typeof reason === 'string' ? reason : undefined,
    usage: toUsage(fieldsOf(usage)),
  };
}

function toStop(end: { cut: boolean; why: string | undefined; parts: MessagePart[]; refused: boolean }): Stop {
  if (end.why === 'content_filter') return { reason: 'refused', detail: end.why };
  if (end.cut)
    return end.why === 'max_output_tokens' ? { reason: 'length' } : { reason: 'unknown', detail: end.why ?? '' };
  if (end.parts.some(({ type }) => type === 'call')) return { reason: 'calls' };
  return { reason: end.refused ? 'refused' : 'end' };
}

function toUsage(usage: JsonFields): Usage {
  const cached = countOf(fieldsOf(usage.input_tokens_details).cached_tokens);
  return {
    input: Math.max(0, countOf(usage.input_tokens) - cached),
    output: countOf(usage.output_tokens),
    cacheRead: cached,
    cacheWrite: 0,
  };
}
