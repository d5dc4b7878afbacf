import type { OutputChunk, OutputLog, OutputStream, RunOutput } from '../../kernel/world/sandbox.ts';
import { createOutputEdges } from './output-edges.ts';
import { createOutputEvents } from './output-events.ts';
import { createOutputLog } from './output-log.ts';

export interface OutputOptions {
  /** Where a long log is spooled, in a file without a name. */
  readonly folder: string;
  readonly keepBytes: number;
  readonly maxBytes: number;
  onOutput?: ((chunk: OutputChunk) => void) | undefined;
  /** Called once, when the streams together pass `maxBytes`. */
  onTooMuch(): void;
}

export interface OutputCollector {
  readonly log: OutputLog;
  /** The bytes are copied; the caller may reuse its buffer. */
  write(stream: OutputStream, bytes: Uint8Array): void;
  /** Sends pending events. Nothing is written after it. */
  finish(): RunOutput;
}

export function createOutput(options: OutputOptions): OutputCollector {
  const edges = { stdout: createOutputEdges(), stderr: createOutputEdges() };
  const log = createOutputLog(options.folder, options.keepBytes);
  const events = createOutputEvents(options.onOutput, (stream, most) => edges[stream].newest(most));
  let tooMuch = false;

  return {
    log,
    write(stream, bytes) {
      const offset = log.totalBytes;
      edges[stream].write(bytes);
      log.write(stream, bytes);
      events.add(stream, offset, bytes.length);
      if (!tooMuch && log.totalBytes > options.maxBytes) {
        tooMuch = true;
        options.onTooMuch();
      }
    },
    finish() {
      events.flush();
      return { stdout: edges.stdout.captured(), stderr: edges.stderr.captured(), log };
    },
  };
}
