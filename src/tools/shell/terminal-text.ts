import { stripVTControlCharacters } from 'node:util';

/** Control characters but tab and newline: what is left of them would only steer a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Output as a reader sees it: no colours, no cursor movements, and of a line that was overwritten only its last state. */
export function plainText(output: string): string {
  const lines = stripVTControlCharacters(output).split('\n');
  return lines.map(lastState).join('\n').replace(CONTROLS, '');
}

/** Searched from its end: a pattern that looks for the last `\r` takes minutes on a line of a megabyte. */
function lastState(line: string): string {
  let end = line.length;
  while (line[end - 1] === '\r') end--;
  const kept = line.slice(0, end);
  return kept.slice(kept.lastIndexOf('\r') + 1);
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
