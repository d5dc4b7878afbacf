import { en } from './words-en.ts';
import { zh } from './words-zh.ts';

/** Texts for people, in their language. Output for programs is never translated. */
export type Words = typeof en;

/** Chooses the language by the flag, else by the first of these variables that is set. */
export function wordsFor(env: Readonly<Record<string, string | undefined>>, flag?: string): Words {
  const locale = flag ?? [env.LC_ALL, env.LC_MESSAGES, env.LANG].find((text) => text) ?? '';
  return locale.startsWith('zh') ? zh : en;
}
