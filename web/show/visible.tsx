import type { ReactNode } from 'react';
import { useWords } from '../words/words.ts';

/**
 * Characters that a person cannot see, or that turn what is around them: controls, zero-width ones, marks of
 * direction, tags. What is approved must look like what runs.
 */
const UNSEEN = new RegExp(
  [
    '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]',
    '[\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u2028-\\u202f\\u205f-\\u206f\\u3164\\ufe00-\\ufe0f\\uffa0]',
    '\\p{Cf}',
    '[\\u{e0000}-\\u{e0fff}]',
  ].join('|'),
  'u',
);
/** More than so many blanks in a row are counted instead of shown: nothing is pushed out of sight. */
const BLANKS = /[ \t\u00a0\u1680\u2000-\u200a\u3000]{12,}|(?:\r?\n[ \t]*){5,}/u;
const PIECES = new RegExp(`(${BLANKS.source})|(${UNSEEN.source})`, 'gu');

/** Text in which nothing is hidden. */
export function Visible({ text }: { text: string }): ReactNode {
  const say = useWords();
  const shown: ReactNode[] = [];
  let from = 0;
  for (const match of text.matchAll(PIECES)) {
    if (match.index > from) shown.push(text.slice(from, match.index));
    const what = match[1] === undefined ? codeOf(match[0]) : `␠ ${say('blanks', { count: [...match[0]].length })}`;
    shown.push(
      <mark key={match.index} className="unseen">
        {what}
      </mark>,
    );
    from = match.index + match[0].length;
  }
  shown.push(text.slice(from));
  return shown;
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Escape sequences of terminals are shown without their effect: nothing is hidden, moved or linked. */
export function withoutEscapes(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what they are
  return text.replace(/\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b[@-Z\\-_]/g, '');
}
