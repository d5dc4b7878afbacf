import type { Io } from '../io.ts';

/** The task from the words of the command line; `-`, or no word where input is piped in, reads all of the input. */
export async function readTask({ stdin }: Io, words: readonly string[]): Promise<string> {
  const typed = words.join(' ').trim();
  if (typed !== '-' && (typed !== '' || stdin.isTTY)) return typed;
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8').trim();
}
