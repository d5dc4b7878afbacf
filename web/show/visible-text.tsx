import type { ReactNode } from 'react';
import { codePointName, HIDDEN, invisibleSet } from '../../src/kernel/text/invisible.ts';
import { useWords } from '../words/words.ts';

/** A narrow space may look like none at all. The text a person approves must look like the text that runs. */
const NARROW_SPACE = invisibleSet(['narrowSpace']);
/** Long runs of blanks are counted instead of shown, so that they push nothing out of view. */
const BLANKS = /[ \t\u00a0\u1680\u2000-\u200a\u3000]{12,}|(?:\r?\n[ \t]*){5,}/u;
const PIECES = new RegExp(`(${BLANKS.source})|(${HIDDEN.source}|${NARROW_SPACE.source})`, 'gu');

/** Shows text with its invisible characters spelled out. */
export function VisibleText({ text }: { text: string }): ReactNode {
  const say = useWords();
  const shown: ReactNode[] = [];
  let from = 0;
  for (const match of text.matchAll(PIECES)) {
    if (match.index > from) shown.push(text.slice(from, match.index));
    const what =
      match[1] === undefined ? codePointName(match[0]) : `␠ ${say('blanks', { count: [...match[0]].length })}`;
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

/** Removes the escape sequences of terminals, so that they hide, move or link nothing. */
export function stripEscapes(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences consist of them
  return text.replace(/\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b[@-Z\\-_]/g, '');
}
