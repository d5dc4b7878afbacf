const END = String.raw`(?:\u0007|\u001b\\|\u009c)`;
const TITLE_OR_LINK = String.raw`\u001b\][^\n\u0007\u001b\u009c]*${END}`;
const NAMED = String.raw`(?:[a-zA-Z\d]+(?:;[-a-zA-Z\d/#&.:=?%@~_]*)*)?${END}`;
const COLOUR_OR_MOVE = String.raw`(?:\d{1,4}(?:;\d{0,4})*)?[\dA-PR-TZcf-nq-uy=><~]`;
/** As `stripVTControlCharacters` of node, whose own pattern takes minutes for an escape before `;?;?;?…`. */
const ESCAPES = new RegExp(String.raw`${TITLE_OR_LINK}|[\u001b\u009b][[\]()#;?]*(?:${NAMED}|${COLOUR_OR_MOVE})`, 'g');

/** Control characters but tab and newline: what is left of them would only steer a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Output as a reader sees it: no colours, no cursor movements, and of a line that was overwritten only its last state. */
export function plainText(output: string): string {
  return withoutOverwritten(output.replace(ESCAPES, '').replace(/(?<!\r)\r+\n/g, '\n')).replace(CONTROLS, '');
}

/** Line by line, of those that are overwritten: a pattern for it takes minutes on a line of a megabyte. */
function withoutOverwritten(text: string): string {
  const kept: string[] = [];
  let from = 0;
  for (let at = text.indexOf('\r'); at !== -1; at = text.indexOf('\r', from)) {
    const start = text.lastIndexOf('\n', at) + 1;
    const next = text.indexOf('\n', at);
    const end = next === -1 ? text.length : next;
    kept.push(text.slice(from, start), lastState(text.slice(start, end)));
    from = end;
  }
  return from === 0 ? text : `${kept.join('')}${text.slice(from)}`;
}

/** What stands after the last `\r` that something follows. */
function lastState(line: string): string {
  let end = line.length;
  while (line[end - 1] === '\r') end--;
  return line.slice(line.lastIndexOf('\r', Math.max(0, end - 1)) + 1, end);
}

/**
 * The question that output ends with, if it seems to be one: a last line without an end that looks like a prompt.
 * Whoever asked got no answer, since there is nobody to give one.
 */
export function lastQuestion(output: string): string | undefined {
  const end = output.slice(-500).replace(/<\/?stderr>/g, '');
  const line = end.slice(end.lastIndexOf('\n') + 1);
  return line.length <= 200 && /[?:>\])]\s*$/.test(line) && /\w/.test(line) ? line.trim() : undefined;
}
