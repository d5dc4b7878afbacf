import { hash } from 'node:crypto';
import type { OutputFilter, OutputStream } from '../../kernel/world/sandbox.ts';
import { findSecrets } from '../find-secrets.ts';
import { type BareText, bareText, dumpedText, joinedText } from './bare-text.ts';
import { certainOutput } from './certain-output.ts';
import { createValueFinder, type ValuePlace } from './value-finder.ts';

/** The output of a command with its secrets replaced, and a sentence about them. */
export interface HidingFilter extends OutputFilter {
  /** Takes other values instead, before there is any output. */
  learn(values: ReadonlyMap<string, string>): void;
  /** Tells how many secrets were replaced, and which kinds. Null when there was none. */
  note(): string | null;
}

interface SecretPlace extends ValuePlace {
  readonly secret: string;
}

/** One stream: text that waits, and the end of what was passed on already. One character for each byte. */
interface HeldStream {
  held: string;
  context: string;
}

/** The secrets in a text, of which the characters before `end` can be passed on. */
interface FoundPlaces {
  readonly all: string;
  readonly places: readonly SecretPlace[];
  readonly end: number;
}

/** So much of earlier lines: a value may be folded. */
const MIN_CONTEXT = 512;
const MAX_CONTEXT = 4096;
const MAX_NAMES = 5;

/**
 * Returns a filter that replaces each secret by its kind and the beginning of its digest: secrets by their content, and these
 * values (each with its file), also in base64 and hex. Text that may still become a secret waits for more.
 */
export function createOutputFilter(values: ReadonlyMap<string, string> = new Map()): HidingFilter {
  let finder = createValueFinder(values);
  const replaced = new Map<string, string>();
  const streams: Record<OutputStream, HeldStream> = {
    stdout: { held: '', context: '' },
    stderr: { held: '', context: '' },
  };

  function placesIn(text: string): SecretPlace[] {
    const found = [...finder.find(text), ...findSecrets(text)].map((place) => ({
      ...place,
      secret: text.slice(place.start, place.end),
    }));
    const bare = bareText(text);
    if (bare !== undefined) found.push(...originalPlaces(bare, [...finder.find(bare.text), ...findSecrets(bare.text)]));
    if (finder.isEmpty) return withoutOverlaps(found);
    const joined = joinedText(text);
    if (joined !== undefined) found.push(...originalPlaces(joined, finder.find(joined.text)));
    const dumped = dumpedText(text);
    // Right of the bytes stands the same as text.
    const lineEnd = (at: number) => (text.indexOf('\n', at) + 1 || text.length + 1) - 1;
    for (const place of dumped === undefined ? [] : originalPlaces(dumped, finder.find(dumped.text)))
      found.push({ ...place, end: lineEnd(place.end) });
    return withoutOverlaps(found);
  }

  /** From where the end of a text may begin a value, folded and dumped ones included. */
  function begunValue(text: string): number {
    if (finder.isEmpty) return text.length;
    const views = [joinedText(text), dumpedText(text)].map((view) => {
      const at = view === undefined ? 0 : finder.begun(view.text);
      return view === undefined || at === view.text.length ? text.length : view.originalOf(at);
    });
    return Math.min(finder.begun(text), ...views);
  }

  function mark({ name, secret }: SecretPlace): string {
    const digest = hash('sha256', Buffer.from(secret, 'latin1'), 'hex').slice(0, 8);
    replaced.set(digest, name);
    return Buffer.from(`[secret: ${name}, sha256:${digest}]`, 'utf8').toString('latin1');
  }

  /** Passes on the first `length` held characters with their secrets replaced; fewer where a secret may go on behind them. */
  function release(stream: HeldStream, length: number): string {
    const { context } = stream;
    const all = context + stream.held;
    const places = placesIn(all);
    let end = Math.max(context.length, Math.min(context.length + length, begunValue(all)));
    for (const place of places) {
      const goesOn = place.end > end || place.end === all.length;
      if (goesOn && place.start < end) end = Math.max(context.length, place.start);
    }
    return passOn(stream, { all, places, end });
  }

  /** Passes on all that is held. */
  function releaseAll(stream: HeldStream): string {
    const all = stream.context + stream.held;
    return passOn(stream, { all, places: placesIn(all), end: all.length });
  }

  function passOn(stream: HeldStream, { all, places, end }: FoundPlaces): string {
    const { context } = stream;
    const parts: string[] = [];
    let from = context.length;
    for (const place of places) {
      if (place.end <= from || place.start >= end) continue;
      parts.push(all.slice(from, Math.max(from, place.start)), mark(place));
      from = place.end;
    }
    parts.push(all.slice(from, Math.max(from, end)));
    const to = Math.max(from, end);
    stream.held = all.slice(to);
    const lineStart = all.lastIndexOf('\n', to - 1) + 1;
    stream.context = all.slice(Math.max(Math.min(lineStart, to - MIN_CONTEXT), to - MAX_CONTEXT, 0), to);
    return parts.join('');
  }

  return {
    add(name, bytes) {
      const stream = streams[name];
      stream.held += toText(bytes);
      const length = certainOutput(stream.held);
      return toBytes(length === 0 ? '' : release(stream, length));
    },
    end(name) {
      const stream = streams[name];
      return toBytes(stream.held === '' ? '' : releaseAll(stream));
    },
    part(bytes) {
      return toBytes(releaseAll({ held: toText(bytes), context: '' }));
    },
    learn(more) {
      finder = createValueFinder(more);
    },
    note: () => (replaced.size === 0 ? null : noteAbout([...replaced.values()])),
  };
}

/** A text with its secrets replaced in the same way. */
export function hideInOutput(text: string, values?: ReadonlyMap<string, string>): string {
  return Buffer.from(createOutputFilter(values).part(Buffer.from(text, 'utf8'))).toString('utf8');
}

function noteAbout(names: readonly string[]): string {
  const kinds = [...new Set(names)];
  const more = kinds.length > MAX_NAMES ? `, and ${kinds.length - MAX_NAMES} more kinds` : '';
  const many = names.length === 1 ? '1 secret in the output was' : `${names.length} secrets in the output were`;
  return `${many} replaced (${kinds.slice(0, MAX_NAMES).join(', ')}${more}).`;
}

/** The places in another reading of a text, in the text itself. */
function originalPlaces(reading: BareText, places: readonly ValuePlace[]): SecretPlace[] {
  return places.map(({ name, start, end }) => ({
    ...{ name, secret: reading.text.slice(start, end) },
    ...{ start: reading.originalOf(start), end: reading.originalOf(end - 1) + 1 },
  }));
}

/** Of places that overlap the first is kept, up to the last end. */
function withoutOverlaps(places: readonly SecretPlace[]): SecretPlace[] {
  const apart: SecretPlace[] = [];
  for (const place of places.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = apart.at(-1);
    if (last === undefined || place.start >= last.end) apart.push(place);
    else if (place.end > last.end) apart[apart.length - 1] = { ...last, end: place.end };
  }
  return apart;
}

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}

function toBytes(text: string): Uint8Array {
  return Buffer.from(text, 'latin1');
}
