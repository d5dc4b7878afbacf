import { isPlainObject } from '../kernel/tool/check-arguments.ts';
import { messageOf } from '../kernel/error.ts';
import type { CallPart } from '../kernel/call/message.ts';
import { withoutHalfPair } from '../kernel/text/truncate.ts';
import { repeatedKey } from './repeated-key.ts';

/** More than any tool takes: a file to write is the largest. */
const MOST_CHARACTERS = 2 * 1024 * 1024;
const SHOWN = 200;

/** The text of a call's arguments while it comes in. What is too large is counted, not kept. */
export class ArgumentText {
  #text = '';
  #length = 0;

  add(more: string): void {
    this.#length += more.length;
    if (this.#length <= MOST_CHARACTERS) this.#text += more;
  }

  /** What was said as a whole, where a wire repeats it at the end. */
  replace(whole: string): void {
    this.#text = '';
    this.#length = 0;
    this.add(whole);
  }

  toCall(id: string, name: string, { cut = false } = {}): CallPart {
    const read = this.#length > MOST_CHARACTERS ? tooLong(this.#length) : readArguments(this.#text);
    if (cut) return broken(id, name, `They were cut off when the output limit was reached. ${quoted(this.#text)}`);
    return 'args' in read ? { type: 'call', id, name, args: read.args } : broken(id, name, read.problem);
  }
}

type Read = { args: Record<string, unknown> } | { problem: string };

/** Strict: an object as JSON, each key once. Nothing at all is how some servers say «no arguments». */
function readArguments(text: string): Read {
  if (text.trim() === '') return { args: {} };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: `They are not whole JSON (${messageOf(error)}). ${quoted(text)}` };
  }
  if (!isPlainObject(value)) return { problem: `They must be a JSON object. ${quoted(text)}` };
  const twice = repeatedKey(text);
  if (twice !== undefined) return { problem: `The key ${JSON.stringify(twice)} is there twice; say which one counts.` };
  return { args: value };
}

function tooLong(length: number): Read {
  return { problem: `They have ${length} characters; at most ${MOST_CHARACTERS} fit. Do it in smaller steps.` };
}

function broken(id: string, name: string, problem: string): CallPart {
  return { type: 'call', id, name, args: {}, problem };
}

function quoted(text: string): string {
  return text === '' ? '' : `They began: ${text.slice(0, withoutHalfPair(text, SHOWN))}`;
}
