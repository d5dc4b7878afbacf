import type { CallPart } from '../kernel/call/message.ts';
import { messageOf } from '../kernel/error.ts';
import { withoutHalfPair } from '../kernel/text/truncate.ts';
import { isPlainObject } from '../kernel/tool/check-arguments.ts';

/** More than any tool accepts: the largest is a file to write. */
const MAX_CHARS = 2 * 1024 * 1024;
const SHOWN = 200;

/** Collects the text of a call's arguments. Text beyond the limit is counted, not kept. */
export class ArgumentText {
  #text = '';
  #length = 0;

  add(more: string): void {
    this.#length += more.length;
    if (this.#length <= MAX_CHARS) this.#text += more;
  }

  /** Replaces the text, where a wire format repeats it as a whole at the end. */
  replace(whole: string): void {
    this.#text = '';
    this.#length = 0;
    this.add(whole);
  }

  toCall(id: string, name: string, { cut = false } = {}): CallPart {
    const read = this.#length > MAX_CHARS ? tooLong(this.#length) : readArguments(this.#text);
    if (cut) return broken(id, name, `They were cut off when the output limit was reached. ${quoted(this.#text)}`);
    return 'args' in read ? { type: 'call', id, name, args: read.args } : broken(id, name, read.problem);
  }
}

type ReadArguments = { args: Record<string, unknown> } | { problem: string };

/** Accepts only a JSON object with each key once. Some servers send nothing at all for "no arguments". */
function readArguments(text: string): ReadArguments {
  if (text.trim() === '') return { args: {} };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: `They are not complete JSON (${messageOf(error)}). ${quoted(text)}` };
  }
  if (!isPlainObject(value)) return { problem: `They must be a JSON object. ${quoted(text)}` };
  const twice = repeatedKey(text);
  if (twice !== undefined) return { problem: `The key ${JSON.stringify(twice)} is there twice; send it once.` };
  return { args: value };
}

function tooLong(length: number): ReadArguments {
  return { problem: `They have ${length} characters; at most ${MAX_CHARS} fit. Do it in smaller steps.` };
}

function broken(id: string, name: string, problem: string): CallPart {
  return { type: 'call', id, name, args: {}, problem };
}

function quoted(text: string): string {
  return text === '' ? '' : `They began: ${text.slice(0, withoutHalfPair(text, SHOWN))}`;
}

/**
 * Returns a key that one object of this JSON has twice, if any: parsers keep the last, people and checkers often read
 * the first. The text must be valid JSON.
 */
function repeatedKey(json: string): string | undefined {
  const open: (Set<string> | null)[] = [];
  for (let at = 0; at < json.length; at++) {
    const char = json[at];
    if (char === '{') open.push(new Set());
    else if (char === '[') open.push(null);
    else if (char === '}' || char === ']') open.pop();
    else if (char === '"') {
      const end = stringEnd(json, at);
      const keys = open.at(-1);
      if (keys && isKey(json, end)) {
        const key = JSON.parse(json.slice(at, end)) as string;
        if (keys.has(key)) return key;
        keys.add(key);
      }
      at = end - 1;
    }
  }
  return undefined;
}

/** Returns the position after the closing quote. */
function stringEnd(json: string, start: number): number {
  let at = start + 1;
  while (json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at + 1;
}

function isKey(json: string, end: number): boolean {
  let at = end;
  while (at < json.length && /\s/.test(json[at] ?? '')) at++;
  return json[at] === ':';
}
