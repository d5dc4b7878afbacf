const END = String.raw`(?:\u0007|\u001b\\|\u009c)`;
const TITLE_OR_LINK = String.raw`\u001b\][^\n\u0007\u001b\u009c]*${END}`;
const NAMED = String.raw`(?:[a-zA-Z\d]+(?:;[-a-zA-Z\d/#&.:=?%@~_]*)*)?${END}`;
const COLOUR_OR_MOVE = String.raw`(?:\d{1,4}(?:;\d{0,4})*)?[\dA-PR-TZcf-nq-uy=><~]`;

/**
 * Colours, cursor movements, titles and links. Same as `stripVTControlCharacters` of node, whose own pattern takes minutes for an
 * escape before `;?;?;?…`.
 */
export const TERMINAL_ESCAPES = new RegExp(
  String.raw`${TITLE_OR_LINK}|[\u001b\u009b][[\]()#;?]*(?:${NAMED}|${COLOUR_OR_MOVE})`,
  'g',
);
