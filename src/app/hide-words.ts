import type { LiveEvent, StoredEvent } from '../kernel/call/event.ts';
import type { SecretHider } from '../runtime/hide-secrets.ts';
import { SecretStream } from '../runtime/secret-stream.ts';

type Streamed = LiveEvent<'message.streamed'>;

/**
 * Tells a model's words as they come, with what records hide hidden, also where it comes in pieces. To be given every
 * event of a run: what was held back is told before the next thing happens.
 */
export function hideWords(
  hider: SecretHider,
  tell: (event: Streamed) => void,
): (event: StoredEvent | LiveEvent) => void {
  const stream = new SecretStream(hider);
  let last: Streamed | undefined;

  function tellText(event: Streamed, text: string): void {
    if (text !== '') tell({ ...event, data: { ...event.data, text } });
  }

  return (event) => {
    const words = event.type === 'message.streamed' ? event : undefined;
    if (last !== undefined && words?.data.kind !== last.data.kind) tellText(last, stream.rest());
    last = words !== undefined && COMES_IN_PIECES[words.data.kind] ? words : undefined;
    if (words !== undefined) tellText(words, last ? stream.add(words.data.text) : hider.hide(words.data.text));
  };
}

const COMES_IN_PIECES: Record<Streamed['data']['kind'], boolean> = {
  text: true,
  thinking: true,
  call: false,
  restarted: false,
};
