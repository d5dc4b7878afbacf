import { escapeInvisible, invisibleSet } from './invisible.ts';

/** Everything that a person does not see, or sees as something else, line ends and tabs aside. */
const UNSEEN = invisibleSet(
  ['control', 'separator', 'format', 'ignorable', 'narrowSpace', 'otherSpace', 'surrogate', 'noncharacter'],
  '\\n\\t',
);

/** A variation selector that gives an emoji its colours, and so can be seen by that. */
const COLOURED = /(?<=\p{Extended_Pictographic})\ufe0f|(?<=[\d#*])\ufe0f(?=\u20e3)/u;

/** Most texts need no closer look. */
const PLAIN = /^[ -~\n\t]*$/;

/** Returns the text with every invisible character written out, such as `\u200b`. Line ends and tabs stay. */
export function visible(text: string): string {
  return PLAIN.test(text) ? text : escapeInvisible(text, UNSEEN);
}

/** The same in one line, with line ends and tabs written out: a name cannot pass for another one, or for two. */
export function oneLine(text: string): string {
  return visible(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

/** The same for the text of a file, in which coloured emoji stay as they are. */
export function visibleText(text: string): string {
  return text.includes('\ufe0f') ? text.split(COLOURED).map(visible).join('\ufe0f') : visible(text);
}

/** The same for a command: spaces at the ends of lines are shown too, as `·`. */
export function visibleCommand(command: string): string {
  return visible(command).replace(/^ +|(?<! ) +$/gm, (spaces) => '·'.repeat(spaces.length));
}
