import { en } from '../words-en.ts';
import { zh } from './words-zh.ts';

/** What people read, in their language. What programs read is never translated. */
export type Words = typeof en;

/** By the flag, else as programs do: the first of these variables that says anything. */
export function wordsFor(env: Readonly<Record<string, string | undefined>>, flag?: string): Words {
  const locale = flag ?? [env.LC_ALL, env.LC_MESSAGES, env.LANG].find((text) => text) ?? '';
  return locale.startsWith('zh') ? zh : en;
}
