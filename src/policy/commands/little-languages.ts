/**
 * The programs of sed, awk and jq that only compute. Each returns why a program is not known to be one of them. These
 * are not parsers: what is not plainly harmless is a reason to ask.
 */

/** Addresses with p, d, q, =, n, and s or y without the flags that write or execute. */
export function sedScript(script: string): string | undefined {
  const address = String.raw`(?:\d+|\$|/(?:[^/\\\n]|\\.)*/)?`;
  const range = String.raw`${address}(?:,\s*(?:\d+|\$|\+\d+|~\d+|/(?:[^/\\\n]|\\.)*/))?\s*!?\s*`;
  const substitute = String.raw`[sy]([/|#,:@!~%_])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1[gpiI0-9]*`;
  const command = String.raw`${range}(?:${substitute}|[pdqQ=nNDPxhHgGl]\d*|\{|\})`;
  const program = new RegExp(String.raw`^\s*(?:${command}\s*(?:[;\n]\s*|(?=\})|$|(?<=\{)))*$`);
  return program.test(script) ? undefined : 'this sed script is not known to only read';
}

/** Anything that starts a program, opens a file or loads code. A `>` may be a comparison, so it is asked about too. */
export function awkProgram(program: string): string | undefined {
  const bare = program.replace(/"(?:[^"\\]|\\.)*"/g, '""').replace(/\/(?:[^/\\\n]|\\.)+\//g, '//');
  if (/\bsystem\b|\bgetline\b|\bclose\b|\bprintf?\b[^;}]*[>|]|@|\|/.test(bare.replaceAll('||', ''))) {
    return 'this awk program may run a command or write a file';
  }
  return undefined;
}

export function jqProgram(program: string): string | undefined {
  return /\b(?:include|import|input_filename|\$ENV|env|debug|stderr|getpath)\b/.test(program)
    ? 'this jq program may read more than its input'
    : undefined;
}
