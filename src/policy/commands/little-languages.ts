/**
 * The programs of sed, awk and jq that only compute. Each returns why a program is not known to be one of them. These
 * are not parsers: what is not plainly harmless is a reason to ask.
 */

/** Beyond that a program is not for looking at by pattern: it would take long, and is no one-liner. */
const LONGEST = 300;

/** Addresses with p, d, q, =, n, and s or y without the flags that write or execute. */
export function sedScript(script: string): string | undefined {
  const address = String.raw`(?:\d+|\$|/(?:[^/\\\n]|\\.)*/)?`;
  const range = String.raw`${address}(?:,\s*(?:\d+|\$|\+\d+|~\d+|/(?:[^/\\\n]|\\.)*/))?\s*!?\s*`;
  const substitute = String.raw`[sy]([/|#,:@!~%_])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1[gpiI0-9]*`;
  const command = String.raw`${range}(?:${substitute}|[pdqQ=nNDPxhHgGl]\d*|\{|\})`;
  const program = new RegExp(String.raw`^\s*(?:${command}\s*(?:[;\n]\s*|(?=\})|$|(?<=\{)))*$`);
  return script.length <= LONGEST && program.test(script) ? undefined : 'this sed script is not known to only read';
}

/** Anything that starts a program, opens a file or loads code. A `>` may be a comparison, so it is asked about too. */
export function awkProgram(program: string): string | undefined {
  // As it stands: where a string or an expression ends is not for a pattern to say.
  const risky = /\bsystem\b|\bgetline\b|\bclose\b|\bARG[VC]\b|\bprintf?\b[^;}]*>|@|\|/;
  if (program.length > LONGEST || risky.test(program.replaceAll('||', ''))) {
    return 'this awk program may run a command or write a file';
  }
  return undefined;
}

export function jqProgram(program: string): string | undefined {
  return /\b(?:include|import|input_filename|\$ENV|env|debug|stderr|getpath)\b/.test(program)
    ? 'this jq program may read more than its input'
    : undefined;
}
