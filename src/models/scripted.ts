import { type AssistantMessage, type Message, type MessagePart, NO_USAGE } from '../kernel/call/message.ts';
import { fail, type MaybePromise, ok, type Result } from '../kernel/result.ts';
import type { Model, ModelRequest } from './model.ts';

/** One turn decided beforehand. Without calls it is the last of its run. */
export interface ScriptedTurn {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly args: Readonly<Record<string, unknown>> }[];
}

export type Script = readonly ScriptedTurn[] | ((request: ModelRequest) => MaybePromise<ScriptedTurn | undefined>);

/**
 * A model that follows a script, for demonstrations, which say so, and for tests. The next turn follows from the
 * conversation and not from a counter, so a resumed run continues where it was.
 */
export function scriptedModel(script: Script, { window = 200_000 }: { window?: number } = {}): Model {
  const decide =
    typeof script === 'function' ? script : (request: ModelRequest) => script[turnsSoFar(request.messages)];
  return {
    name: 'scripted',
    scripted: true,
    window,
    async turn(request, { signal, onDelta } = {}): Promise<Result<AssistantMessage>> {
      const turn = await decide(request);
      if (signal?.aborted) return fail('CANCELLED', 'The script was cancelled.');
      if (turn === undefined)
        return fail('NOT_CONFIGURED', 'The script has no turn for this point of the conversation.');
      if (turn.text !== undefined) onDelta?.({ kind: 'text', text: turn.text });
      return ok(toMessage(turn, request.messages.length));
    },
  };
}

function toMessage({ text, calls = [] }: ScriptedTurn, at: number): AssistantMessage {
  const parts: MessagePart[] = calls.map(({ name, args }, index) => {
    return { type: 'call', id: `scripted_${at}_${index}`, name, args };
  });
  if (text !== undefined && text !== '') parts.unshift({ type: 'text', text });
  const stop = { reason: calls.length > 0 ? 'calls' : 'end' } as const;
  return { role: 'assistant', parts, model: 'scripted', stop, usage: NO_USAGE };
}

export function turnsSoFar(messages: readonly Message[]): number {
  return sinceAsked(messages).filter(({ role }) => role === 'assistant').length;
}

/** Messages since a person last spoke. */
export function sinceAsked(messages: readonly Message[]): readonly Message[] {
  const asked = messages.findLastIndex((message) => message.role === 'user' && message.from === 'person');
  return messages.slice(asked + 1);
}
