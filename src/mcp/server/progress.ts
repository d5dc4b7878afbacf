import type { ServerContext } from '@modelcontextprotocol/server';
import type { ClientProgress } from './client-call.ts';

const OUTPUT_EVERY_MS = 100;
const MAX_LINE_CHARS = 200;

export interface ProgressSink {
  tell(progress: ClientProgress): void;
  /** Ends the reports; the request is answered. */
  end(): void;
}

/** Reports progress to a client that asked for it: live output by its last line, throttled. */
export function progressSink({ mcpReq }: ServerContext): ProgressSink {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return SILENT;
  let last = -STEP;
  let ended = false;
  let nextOutputAt = 0;
  let pending: NodeJS.Timeout | undefined;
  let line = '';
  return { tell, end };

  function tell({ message, percent, output }: ClientProgress): void {
    if (ended) return;
    if (output !== undefined) later(output);
    if (message !== undefined || percent !== undefined) send(message, percent);
  }

  function end(): void {
    ended = true;
    clearTimeout(pending);
  }

  function later(output: string): void {
    line = lastLine(output) || line;
    if (pending !== undefined || line === '') return;
    pending = setTimeout(
      () => {
        pending = undefined;
        nextOutputAt = performance.now() + OUTPUT_EVERY_MS;
        send(line);
      },
      Math.max(0, nextOutputAt - performance.now()),
    );
    pending.unref();
  }

  /** Keeps the reported number growing, whatever the tool says, as MCP requires. */
  function send(message: string | undefined, percent?: number): void {
    const grows = percent !== undefined && percent > last;
    last = grows ? percent : last + (last < 100 ? STEP : 1);
    const params = {
      progressToken,
      progress: last,
      ...(grows && { total: 100 }),
      ...(message !== undefined && { message }),
    };
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {
      // The client is gone; the call learns it by its signal.
    });
  }
}

/** Step where the tool gives no percentage: small, so that the next percentage is larger still. */
const STEP = 0.001;

const SILENT: ProgressSink = { tell() {}, end() {} };

function lastLine(output: string): string {
  const line =
    output
      .trimEnd()
      .split(/[\n\r]/)
      .at(-1) ?? '';
  return line.length > MAX_LINE_CHARS ? `${line.slice(0, MAX_LINE_CHARS)} …` : line;
}
