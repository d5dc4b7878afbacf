import type { FinalState } from '../../kernel/call/call.ts';
import { messageOf } from '../../kernel/error.ts';
import { fail, type Result } from '../../kernel/result.ts';
import { truncate } from '../../kernel/text/truncate.ts';
import { textOf } from '../../kernel/tool/tool-result.ts';
import type { Runtime } from '../runtime.ts';
import type { CallScope, Ending } from './call-scope.ts';

/** An ending with the text for the model. */
export interface ReadableEnding {
  readonly state: FinalState;
  readonly result: Result<unknown>;
  readonly text: string;
  /** The artifact that holds the whole text, if it was truncated. */
  readonly artifact: string | undefined;
}

/** Renders an ending for the model. A value that is not JSON fails the call: no door could carry it. Never throws. */
export function toReadable({ state, result, text }: Ending, warnings: readonly string[]): ReadableEnding {
  if (!result.ok) {
    return { state, result, text: withNotes(text ?? `Error: ${result.error.message}`, warnings), artifact: undefined };
  }
  try {
    if (result.metadata !== undefined) JSON.stringify(result.metadata);
    return { state, result, text: withNotes(checkedText(result.value, text), warnings), artifact: undefined };
  } catch (error) {
    const message = `The tool ran, but its result cannot be written as JSON: ${messageOf(error)}`;
    const failure = fail('EXECUTION_ERROR', message);
    return { state: 'failed', result: failure, text: withNotes(`Error: ${message}`, warnings), artifact: undefined };
  }
}

function checkedText(value: unknown, rendered: string | undefined): string {
  if (typeof value === 'function' || typeof value === 'symbol') throw new TypeError(`it is a ${typeof value}`);
  if (typeof value === 'bigint') throw new TypeError('it is a bigint; return a number or a string');
  if (rendered === undefined) return textOf(value);
  if (typeof value === 'object' && value !== null) JSON.stringify(value);
  return rendered;
}

function withNotes(text: string, warnings: readonly string[]): string {
  return warnings.length === 0 ? text : `${text}\n${warnings.map((warning) => `[Note: ${warning}]`).join('\n')}`;
}

/**
 * Truncates the text to the limit of the context and stores the whole as an artifact. The notice says if that failed.
 */
export async function truncateResult(rt: Runtime, call: CallScope, long: ReadableEnding): Promise<ReadableEnding> {
  const { text, result, state } = long;
  const limit = call.context.maxOutputSize;
  const kept = await keep(rt, text);
  const short = truncate(
    text,
    limit,
    'handle' in kept ? `the whole output is kept as artifact ${kept.handle}` : kept.why,
  );
  // A string without a rendering is its own text, so the value is truncated, too.
  const isItsText = result.ok && typeof result.value === 'string' && text.startsWith(result.value);
  const bounded = isItsText ? { ...result, value: short } : result;
  return { state, result: bounded, text: short, artifact: 'handle' in kept ? kept.handle : undefined };
}

async function keep(rt: Runtime, text: string): Promise<{ handle: string } | { why: string }> {
  try {
    return { handle: await rt.blobs.put(new TextEncoder().encode(text)) };
  } catch (error) {
    return { why: `it could not be kept: ${messageOf(error).slice(0, 100)}` };
  }
}
