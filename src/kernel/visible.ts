/** What a person would not see, or would see as something else: controls, marks that turn the direction, odd spaces. */
const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}|[\ud800-\udfff](?![\udc00-\udfff])/gu;

/** What gives a sign its colours is seen by that. */
const COLOURED = /(?<=\p{Extended_Pictographic})\ufe0f|(?<=[\d#*])\ufe0f(?=\u20e3)/u;

/** Most texts: nothing in them needs a closer look. */
const PLAIN = /^[ -~\n\t]*$/;

/** A text in which everything can be seen, line breaks and tabs aside: `\u200b` where that character stands. */
export function visible(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(UNSEEN, (found) => (found === '\n' || found === '\t' ? found : escaped(found)));
}

/** The same for the text of a file, whose signs may have colours. */
export function visibleText(text: string): string {
  return text.includes('\ufe0f') ? text.split(COLOURED).map(visible).join('\ufe0f') : visible(text);
}

/** The same for something that runs: spaces at the ends of lines show too, as `·`. */
export function visibleCommand(command: string): string {
  return visible(command).replace(/^ +|(?<! ) +$/gm, (spaces) => '·'.repeat(spaces.length));
}

function escaped(character: string): string {
  return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
}
