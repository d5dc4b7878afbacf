import type { StreamEvent } from '../../src/protocol/events.ts';
import { token } from './token.ts';

/**
 * Refused: the server does not know the token, or has heard too many it does not know to look. Limited: the token is for particular sessions, and the page follows all.
 * Asking again would help in neither case. Crowded: the token has too many streams, until some are closed.
 */
export type Connection = 'connecting' | 'open' | 'lost' | 'crowded' | 'refused' | 'limited';

interface Listeners {
  onEvent(event: StreamEvent): void;
  onState(state: Connection): void;
}

const RETRY_MS = [250, 500, 1000, 2000, 4000];
/** The server says something every 15 s; after so long without a word nobody is there, whatever the line looks like. */
const SILENT_MS = 45_000;
const ENDS: Record<number, Connection> = { 401: 'refused', 403: 'limited', 429: 'crowded' };

/**
 * Events of all sessions, for as long as the page lives. What was missed while the line was down is sent again by the
 * server, from the last place that was seen. Read with fetch, since EventSource cannot send the token.
 */
export function followEvents({ onEvent, onState }: Listeners, silentMs = SILENT_MS): () => void {
  const stopped = new AbortController();
  let last: number | undefined;
  let failures = 0;

  void (async () => {
    while (!stopped.signal.aborted) {
      onState('connecting');
      const end = await readOnce().catch((): Connection => 'lost');
      if (stopped.signal.aborted) return;
      onState(end);
      if (end === 'refused' || end === 'limited') return;
      await pause(RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)] ?? 4000);
    }
  })();
  return () => stopped.abort();

  async function readOnce(): Promise<Connection> {
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), silentMs);
    const heard = () => {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), silentMs);
    };
    return read(AbortSignal.any([stopped.signal, silence.signal]), heard).finally(() => clearTimeout(timer));
  }

  async function read(signal: AbortSignal, heard: () => void): Promise<Connection> {
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
