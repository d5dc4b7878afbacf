import type {
  CapturedStream,
  OutputChunk,
  OutputFilter,
  OutputLog,
  OutputStream,
  RunOutput,
} from '../../kernel/world/sandbox.ts';
import { createOutputEdges } from './output-edges.ts';
import { createOutputEvents } from './output-events.ts';
import { createOutputLog } from './output-log.ts';

export interface OutputOptions {
  /** Where a long log is spooled, in a file without a name. */
  readonly folder: string;
  readonly keepBytes: number;
  readonly maxBytes: number;
  onOutput?: ((chunk: OutputChunk) => void) | undefined;
  /** All that is kept or passed on has passed it. */
  filter?: OutputFilter | undefined;
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
  const { filter } = options;
  const edges = { stdout: createOutputEdges(), stderr: createOutputEdges() };
  const log = createOutputLog(options.folder, options.keepBytes);
  const events = createOutputEvents(options.onOutput, (stream, most) => shown(edges[stream].newest(most)));
  let printedBytes = 0;
  /** The log is full: of the rest only the edges are ever read, so only these pass the filter, when they are read. */
  let isFlood = false;

  function shown(bytes: Uint8Array): Uint8Array {
    return isFlood && filter !== undefined ? filter.part(wholeLines(bytes)) : bytes;
  }

  function keep(stream: OutputStream, bytes: Uint8Array): void {
    const offset = log.totalBytes;
    edges[stream].write(bytes);
    log.write(stream, bytes);
    events.add(stream, offset, bytes.length);
  }

  function endFilter(): void {
    if (filter === undefined || isFlood) return;
    for (const stream of ['stdout', 'stderr'] as const) keep(stream, filter.end(stream));
  }

  function captured(stream: OutputStream): CapturedStream {
    const { head, tail, totalBytes } = edges[stream].captured();
    if (!isFlood || filter === undefined) return { head, tail, totalBytes };
    return { head: filter.part(head), tail: filter.part(fromFirstLine(tail)), totalBytes };
  }

  return {
    log,
    write(stream, bytes) {
      const before = printedBytes;
      printedBytes += bytes.length;
      if (!isFlood && log.totalBytes >= options.keepBytes) {
        endFilter();
        isFlood = true;
      }
      keep(stream, filter === undefined || isFlood ? bytes : filter.add(stream, bytes));
      if (before <= options.maxBytes && printedBytes > options.maxBytes) options.onTooMuch();
    },
    finish() {
      endFilter();
      events.flush();
      return { stdout: captured('stdout'), stderr: captured('stderr'), log };
    },
  };
}

const LINE_END = 0x0a;
/** Longer than any secret of one line. */
const MAX_SECRET_BYTES = 4096;

/** A part that was cut out of the output may begin and end within a secret. */
function wholeLines(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(bytes.indexOf(LINE_END) + 1, bytes.lastIndexOf(LINE_END) + 1);
}

function fromFirstLine(bytes: Uint8Array): Uint8Array {
  const end = bytes.indexOf(LINE_END);
  return bytes.subarray(end === -1 ? MAX_SECRET_BYTES : end + 1);
}
