import { expect, test } from 'vitest';
import type { LiveEvent, StoredEvent } from '../kernel/call/event.ts';
import { createHider } from '../runtime/hide-secrets.ts';
import { hideWords } from './hide-words.ts';

type Kind = LiveEvent<'message.streamed'>['data']['kind'];

test('what is held back of one kind of words is told before anything else is', () => {
  const told: string[] = [];
  const hear = hideWords(createHider(['correct horse battery']), ({ data }) => told.push(`${data.kind}: ${data.text}`));
  const say = (kind: Kind, text: string) =>
    hear({ type: 'message.streamed', session: 's1', callId: null, at: 1, data: { kind, text } });
  say('thinking', 'cor');
  say('text', 'It is correct ');
  say('text', 'horse battery, cor');
  say('call', 'npm_');
  say('call', 'npm_');
  say('text', 'corr');
  const message = { type: 'message.added', data: { messageId: 'm', role: 'assistant', text: 'corr' } };
  hear({ ...message, callId: null, at: 2, session: 's1', seq: 1, pos: 1 } as StoredEvent);
  expect(told).toEqual([
    'thinking: cor',
    'text: It is ',
    'text: [redacted], ',
    'text: cor',
    'call: npm_',
    'call: npm_',
    'text: corr',
  ]);
});
