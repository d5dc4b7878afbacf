import type { StreamEvent } from '../../src/protocol/events.ts';
import { token } from './token.ts';

/**
 * `refused`: the token is unknown to the server, or too many unknown tokens came from here. `limited`: the token covers
 * certain sessions only, and the page follows all. Retrying helps in neither case. `crowded`: the token has too many
 * open streams.
 */
export type StreamState = 'connecting' | 'open' | 'lost' | 'crowded' | 'refused' | 'limited';

interface StreamListeners {
  onEvent(event: StreamEvent): void;
  onState(state: StreamState): void;
}

const RETRY_MS = [250, 500, 1000, 2000, 4000];
/** The server sends a ping every 15 s; after this long without one the connection counts as lost. */
const SILENT_MS = 45_000;
const ENDS: Record<number, StreamState> = { 401: 'refused', 403: 'limited', 429: 'crowded' };

/**
 * Follows the events of all sessions for as long as the page lives. After a lost connection the server sends missed
 * events again, from the last position received. Uses fetch, since EventSource cannot send the token.
 */
export function followEvents({ onEvent, onState }: StreamListeners, silentMs = SILENT_MS): () => void {
  const stopped = new AbortController();
  let last: number | undefined;
  let failures = 0;

  void (async () => {
    while (!stopped.signal.aborted) {
      onState('connecting');
      const end = await readOnce().catch((): StreamState => 'lost');
      if (stopped.signal.aborted) return;
      onState(end);
      if (end === 'refused' || end === 'limited') return;
      await pause(RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)] ?? 4000);
    }
  })();
  return () => stopped.abort();

  async function readOnce(): Promise<StreamState> {
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), silentMs);
    const heard = () => {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), silentMs);
    };
    return read(AbortSignal.any([stopped.signal, silence.signal]), heard).finally(() => clearTimeout(timer));
  }

  async function read(signal: AbortSignal, heard: () => void): Promise<StreamState> {
    const query = last === undefined ? '' : `?after=${last}`;
    const response = await fetch(`/v1/events${query}`, {
      headers: { authorization: `Bearer ${token()}`, accept: 'text/event-stream' },
      signal,
    });
    if (response.status === 429 && response.headers.has('retry-after')) return 'refused';
    if (!response.ok || response.body === null) return ENDS[response.status] ?? 'lost';
    onState('open');
    failures = 0;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let pending = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return 'lost';
      heard();
      pending += value;
      const blocks = pending.split('\n\n');
      pending = blocks.pop() ?? '';
      for (const block of blocks) take(block);
    }
  }

  function take(block: string): void {
    const lines = block.split('\n');
    const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice(5).trimStart());
    if (data.length === 0) return;
    const event = JSON.parse(data.join('\n')) as StreamEvent;
    if ('pos' in event) last = event.pos;
    onEvent(event);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
