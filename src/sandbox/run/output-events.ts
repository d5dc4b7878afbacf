import type { OutputChunk, OutputStream } from '../../kernel/world/sandbox.ts';

const EVENT_BYTES = 64 * 1024;
const EVENT_MS = 50;

/**
 * Throttles output to one event each 50 ms, however many pieces it came in; when both streams have output, the other one
 * follows 50 ms later. Nothing is copied meanwhile: the newest bytes are read from the log.
 */
export function createOutputEvents(
  onOutput: ((chunk: OutputChunk) => void) | undefined,
  newest: (stream: OutputStream, most: number) => Uint8Array,
) {
  const waiting = { stdout: createWaiting(), stderr: createWaiting() };
  /** The stream to send next comes first. */
  let streams: [OutputStream, OutputStream] = ['stdout', 'stderr'];
  let timer: NodeJS.Timeout | null = null;

  /** False when there was nothing to send. */
  function send(): boolean {
    const stream = streams.find((each) => waiting[each].isWaiting());
    if (stream === undefined) return false;
    if (stream === streams[0]) streams = [streams[1], streams[0]];
    const { offset, length } = waiting[stream].take();
    onOutput?.({ stream, offset, bytes: newest(stream, length) });
    return true;
  }

  function sendInTime(): void {
    timer = send() ? setTimeout(sendInTime, EVENT_MS) : null;
  }

  return {
    flush(): void {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      while (send());
    },
    add(stream: OutputStream, offset: number, length: number): void {
      if (onOutput === undefined || length === 0) return;
      waiting[stream].add(offset, length);
      timer ??= setTimeout(sendInTime, EVENT_MS);
    },
  };
}

/** The positions in the log of the newest 64 KB of one stream. */
function createWaiting() {
  let pieces: { offset: number; length: number }[] = [];
  let total = 0;
  return {
    add(offset: number, length: number): void {
      const last = pieces.at(-1);
      if (last !== undefined && last.offset + last.length === offset) last.length += length;
      else pieces.push({ offset, length });
      total += length;
      for (let old = pieces[0]; old !== undefined && total - old.length >= EVENT_BYTES; old = pieces[0]) {
        total -= old.length;
        pieces.shift();
      }
    },
    isWaiting: () => total > 0,
    take(): { offset: number; length: number } {
      const length = Math.min(total, EVENT_BYTES);
      const offset = (pieces[0]?.offset ?? 0) + total - length;
      pieces = [];
      total = 0;
      return { offset, length };
    },
  };
}
