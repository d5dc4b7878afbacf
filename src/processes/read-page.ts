import type { OutputPage } from '../kernel/world/commands.ts';
import type { OutputLog } from '../kernel/world/sandbox.ts';

/** Some of a log as text, without half a character at its end: that comes with the next page. */
export function readPage(
  log: OutputLog | undefined,
  { offset, length, isOver }: { offset: number; length: number; isOver: boolean },
): OutputPage {
  const kept = log?.keptBytes ?? 0;
  const from = Math.min(kept, offset < 0 ? Math.max(0, kept + offset) : offset);
  const bytes = log?.read(from, length) ?? new Uint8Array();
  const isEnd = from + bytes.length >= kept;
  const whole = isEnd && isOver ? bytes.length : wholeCharacters(bytes);
  return { text: new TextDecoder().decode(bytes.subarray(0, whole)), offset: from, next: from + whole };
}

/** How many bytes there are up to the last character that is complete. Bytes that are no UTF-8 count as complete. */
function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0b1100_0000) === 0b1000_0000) continue;
    const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return size > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
