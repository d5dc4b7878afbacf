import { type Message, type MessagePart, NO_USAGE, type Stop, type Usage } from '../kernel/call/message.ts';
import { ArgumentText } from './call-arguments.ts';
import type { TurnReader, WholeTurn } from './endpoint.ts';
import { countOf, fieldsOf, type JsonFields } from './fields.ts';
import type { Model, ModelRequest, TurnDelta } from './model.ts';
import type { ModelOptions } from './model-options.ts';
import { failureOfEvent, type TurnFailure } from './turn-failure.ts';
import { OPENAI, type Wire, wireModel } from './wire-model.ts';

const WIRE = 'openai-chat';

/** Chat Completions as Ollama, vLLM, DeepSeek, Qwen and many others speak it. */
export function openaiChatModel(options: ModelOptions): Model {
  return wireModel(CHAT, options);
}

const CHAT: Wire = {
  ...OPENAI,
  called: 'chat',
  path: '/chat/completions',
  toBody,
  createReader: (who, tell) => new ChatReader(who, tell),
};

function toBody({ model, maxTokens, extra }: ModelOptions, { system, tools, messages }: ModelRequest): object {
  return {
    model,
    max_tokens: maxTokens,
    stream: true,
    stream_options: { include_usage: true },
    messages: [...(system === '' ? [] : [{ role: 'system', content: system }]), ...messages.flatMap(toMessages)],
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, schema }) => ({
        type: 'function',
        function: { name, description, parameters: schema },
      })),
    }),
    ...extra,
  };
}

function toMessages(message: Message): object[] {
  if (message.role === 'user') return [{ role: 'user', content: message.text }];
  if (message.role === 'results')
    return message.results.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text }));
  const { parts } = message;
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  const calls = parts.flatMap((part) => (part.type === 'call' ? [part] : []));
  const own = parts.flatMap((part) => (part.type === 'thinking' && part.wire === WIRE ? [part.block as object] : []));
  const toolCalls = calls.map(({ id, name, args }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  return [
    {
      role: 'assistant',
      content: text === '' && calls.length > 0 ? null : text,
      ...Object.assign({}, ...own),
      ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    },
  ];
}

interface StartedCall {
  id: string;
  name: string;
  readonly args: ArgumentText;
}

class ChatReader implements TurnReader {
  readonly #who: string;
  readonly #tell: (heard: TurnDelta) => void;
  readonly #text: string[] = [];
  readonly #thinking: string[] = [];
  readonly #calls = new Map<number, StartedCall>();
  #usage = NO_USAGE;
  #stop: string | null = null;

  constructor(who: string, tell: (heard: TurnDelta) => void) {
    this.#who = who;
    this.#tell = tell;
  }

  push({ error, choices, usage }: JsonFields): TurnFailure | undefined {
    if (error !== undefined && error !== null) return failureOfEvent(this.#who, error);
    if (typeof usage === 'object' && usage !== null) this.#usage = toUsage(usage as JsonFields);
    const [choice] = (Array.isArray(choices) ? choices : []) as { delta?: Delta; finish_reason?: unknown }[];
    if (choice?.delta) this.#delta(choice.delta);
    if (typeof choice?.finish_reason === 'string') this.#stop = choice.finish_reason;
    return undefined;
  }

  /** Servers end a stream differently; all of them send a stop reason. */
  finish(): WholeTurn | undefined {
    if (this.#stop === null) return undefined;
    const [text, thinking] = [this.#text.join(''), this.#thinking.join('')];
    const begun = [...this.#calls.entries()].sort(([a], [b]) => a - b).map(([, call]) => call);
    const cut = this.#stop === 'length';
    const calls = begun.map(({ id, name, args }, at) => args.toCall(id, name, { cut: cut && at === begun.length - 1 }));
    const block = { reasoning_content: thinking };
    const parts: MessagePart[] = [
      ...(thinking === '' ? [] : [{ type: 'thinking' as const, text: thinking, wire: WIRE, block }]),
      ...(text === '' ? [] : [{ type: 'text' as const, text }]),
      ...calls,
    ];
    const stop = toStop(this.#stop, calls.length > 0);
    return { parts, stop, usage: this.#usage };
  }

  #delta({ content, reasoning_content: thinking, tool_calls: calls }: Delta): void {
    if (typeof thinking === 'string' && thinking !== '') {
      this.#thinking.push(thinking);
      this.#tell({ kind: 'thinking', text: thinking });
    }
    if (typeof content === 'string' && content !== '') {
      this.#text.push(content);
      this.#tell({ kind: 'text', text: content });
    }
    for (const call of Array.isArray(calls) ? calls : []) this.#call(call);
  }

  /** Finds the call by index; where a gateway omits it, a new id begins a new call. */
  #call({ index, id, function: named }: CallDelta): void {
    const latest = this.#calls.size - 1;
    const isNew = typeof id === 'string' && id !== '' && this.#calls.get(latest)?.id !== id;
    const at = index ?? (isNew ? latest + 1 : Math.max(0, latest));
    let call = this.#calls.get(at);
    if (call === undefined) {
      call = { id: '', name: '', args: new ArgumentText() };
      this.#calls.set(at, call);
    }
    if (typeof id === 'string' && id !== '') call.id = id;
    if (typeof named?.name === 'string' && named.name !== '' && call.name === '') {
      call.name = named.name;
      this.#tell({ kind: 'call', text: call.name });
    }
    if (typeof named?.arguments === 'string') call.args.add(named.arguments);
  }
}

interface Delta {
  content?: unknown;
  reasoning_content?: unknown;
  tool_calls?: CallDelta[];
}

interface CallDelta {
  index?: number;
  id?: unknown;
  function?: { name?: unknown; arguments?: unknown };
}

/** Some servers report "stop" although they call tools, so the calls decide. */
function toStop(word: string, calls: boolean): Stop {
  if (word === 'length') return { reason: 'length' };
  if (word === 'content_filter') return { reason: 'refused', detail: word };
  if (calls) return { reason: 'calls' };
  return word === 'stop' ? { reason: 'end' } : { reason: 'unknown', detail: word };
}

function toUsage(usage: JsonFields): Usage {
  const cached = countOf(fieldsOf(usage.prompt_tokens_details).cached_tokens);
  return {
    input: Math.max(0, countOf(usage.prompt_tokens) - cached),
    output: countOf(usage.completion_tokens),
    cacheRead: cached,
    cacheWrite: 0,
  };
}
