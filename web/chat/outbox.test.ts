import { expect, test } from 'vitest';
import { createOutbox } from './outbox.ts';

/** A server that accepts or refuses messages as the test says. */
function started() {
  const taken: string[] = [];
  const busy = new Set<string>();
  let problem: string | null = null;
  let isAnswerLost = false;
  let isLineDown = false;
  const outbox = createOutbox({
    isBusy: (session) => busy.has(session),
    async send(session, text) {
      if (problem !== null) return problem;
      busy.add(session);
      taken.push(`${session}: ${text}`);
      return isAnswerLost ? 'The server does not answer.' : null;
    },
    lastSeqOf: () => taken.length,
    async wasReceived(session, text, since) {
      if (isLineDown) throw new Error('The server does not answer.');
      return taken.slice(since).includes(`${session}: ${text}`);
    },
  });
  const done = (session: string) => {
    busy.delete(session);
    outbox.sendWaiting();
  };
  const kept = (session: string) => outbox.messages.get().get(session) ?? [];
  const refuseWith = (words: string | null) => {
    problem = words;
  };
  /** Messages arrive, but the responses to them get lost. */
  const loseAnswers = (lineDown: boolean) => {
    isAnswerLost = true;
    isLineDown = lineDown;
  };
  const mendLine = () => {
    isAnswerLost = false;
    isLineDown = false;
  };
  return { outbox, taken, done, kept, refuseWith, loseAnswers, mendLine };
}
const settled = () => new Promise((resolve) => setTimeout(resolve, 1));

test('a refused message stays first in the queue of its session until it is tried again', async () => {
  const { outbox, taken, done, kept, refuseWith } = started();
  refuseWith('The server does not answer.');
  outbox.add('a', 'one');
  outbox.add('a', 'two');
  outbox.add('b', 'other');
  await settled();
  expect(taken).toEqual([]);
  expect(kept('a')).toMatchObject([
    { text: 'one', state: 'refused', problem: 'The server does not answer.' },
    { text: 'two', state: 'waiting' },
  ]);
  refuseWith(null);
  outbox.sendWaiting();
  await settled();
  expect(taken).toEqual([]);
  const [first] = kept('a');
  if (first !== undefined) outbox.tryAgain('a', first);
  await settled();
  expect(taken).toEqual(['a: one']);
  done('a');
  await settled();
  expect(taken).toEqual(['a: one', 'a: two']);
  expect(kept('a')).toEqual([]);
  expect(kept('b')).toMatchObject([{ text: 'other', state: 'refused' }]);
});

test('messages go out one after the other, each when the agent is done, and a removed one does not', async () => {
  const { outbox, taken, done, kept } = started();
  for (const text of ['one', 'two', 'three']) outbox.add('a', text);
  await settled();
  expect(taken).toEqual(['a: one']);
  const [second] = kept('a');
  if (second !== undefined) outbox.remove('a', second);
  await settled();
  expect(taken).toEqual(['a: one']);
  done('a');
  await settled();
  expect(taken).toEqual(['a: one', 'a: three']);
});

test('removing a refused message sends the next', async () => {
  const { outbox, taken, kept, refuseWith } = started();
  refuseWith('no');
  outbox.add('a', 'one');
  outbox.add('a', 'two');
  await settled();
  refuseWith(null);
  const [first] = kept('a');
  if (first !== undefined) outbox.remove('a', first);
  await settled();
  expect(taken).toEqual(['a: two']);
});

test('a message that the server received counts as sent, also when the response was lost', async () => {
  const { outbox, taken, kept, loseAnswers } = started();
  loseAnswers(false);
  outbox.add('a', 'one');
  await settled();
  expect([taken, kept('a')]).toEqual([['a: one'], []]);
});

test('after a lost response a message is sent again only if the record does not show it', async () => {
  const { outbox, taken, done, kept, loseAnswers, mendLine } = started();
  loseAnswers(true);
  outbox.add('a', 'one');
  await settled();
  done('a');
  const again = () => {
    for (const message of kept('a')) outbox.tryAgain('a', message);
  };
  again();
  await settled();
  expect([taken, kept('a')]).toMatchObject([['a: one'], [{ text: 'one', state: 'refused' }]]);
  mendLine();
  again();
  await settled();
  expect([taken, kept('a')]).toEqual([['a: one'], []]);
  outbox.add('a', 'one');
  await settled();
  expect(taken).toEqual(['a: one', 'a: one']);
});

test('a message that counts as refused leaves the queue when the record shows it', async () => {
  const { outbox, kept, loseAnswers } = started();
  loseAnswers(true);
  outbox.add('a', 'one');
  await settled();
  outbox.dropReceived((_, text) => text === 'another');
  expect(kept('a')).toHaveLength(1);
  outbox.dropReceived((session, text, since) => session === 'a' && text === 'one' && since === 0);
  expect(kept('a')).toEqual([]);
});
