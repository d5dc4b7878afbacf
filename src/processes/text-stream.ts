import type { OutputChunk } from '../kernel/world/sandbox.ts';

/** Output as text while it comes: a character that is cut by the border of two chunks is told whole. */
export function createTextStream(tell: (text: string) => void): { add(chunk: OutputChunk): void; end(): void } {
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  const say = (text: string) => {
    if (text !== '') tell(text);
  };
  return {
    add: ({ stream, bytes }) => say(decoders[stream].decode(bytes, { stream: true })),
    end() {
      for (const decoder of Object.values(decoders)) say(decoder.decode());
    },
  };
}
