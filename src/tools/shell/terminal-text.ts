import { invisibleSet, removeInvisible } from '../../kernel/text/invisible.ts';
import { TERMINAL_ESCAPES } from '../../kernel/text/terminal-escapes.ts';

/** Control characters except tab and newline, which would only steer a terminal. */
const CONTROLS = invisibleSet(['control'], '\\n\\t');

/** Output as a reader sees it: no colours, no cursor movements, and only the last state of an overwritten line. */
export function plainText(output: string): string {
  const lines = withoutOverwritten(output.replace(TERMINAL_ESCAPES, '').replace(/(?<!\r)\r+\n/g, '\n'));
  return removeInvisible(lines, CONTROLS);
}

/** Line by line, because one pattern takes minutes on a line of a megabyte. */
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

/** Text after the last `\r` that something follows. */
function lastState(line: string): string {
  let end = line.length;
  while (line[end - 1] === '\r') end--;
  return line.slice(line.lastIndexOf('\r', Math.max(0, end - 1)) + 1, end);
}

/**
 * Returns the question at the end of the output, if any: an unfinished last line that looks like a prompt. The command
 * got no answer, since no person is attached.
 */
export function lastQuestion(output: string): string | undefined {
  const end = output.slice(-500).replace(/<\/?stderr>/g, '');
  const line = end.slice(end.lastIndexOf('\n') + 1);
  return line.length <= 200 && /[?:>\])]\s*$/.test(line) && /\w/.test(line) ? line.trim() : undefined;
}
