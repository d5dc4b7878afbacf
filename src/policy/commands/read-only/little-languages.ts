/**
 * The programs of sed, awk and jq that only compute. Each returns why a program is not known to be one of them. These
 * are not parsers: what is not plainly harmless is a reason to ask.
 */

/** Beyond that a program is not for looking at by pattern: it would take long, and is no one-liner. */
const LONGEST = 300;

/** Between brackets a delimiter does not delimit: with one there, nobody knows where the command ends. */
const SED_BRACKETS = (delimiter: string) => String.raw`\[\^?(?:\[:[a-z]+:\]|(?!${delimiter})[^\]\[\n\\])+\]`;
const SED_ADDRESS = String.raw`(?:\d+|\$|/(?:[^/\\\n[]|\\.|${SED_BRACKETS('/')})*/)`;
const SED_RANGE = String.raw`${SED_ADDRESS}?(?:,[ \t]*(?:${SED_ADDRESS}|[+~]\d+))?[ \t]*(?:![ \t]*)?`;
const SED_CHANGE = String.raw`[sy]([/|#,:@!~%_])(?:(?!\1)[^\\\n[]|\\.|${SED_BRACKETS('\\1')})*\1(?:(?!\1)[^\\\n]|\\.)*\1[gpiI0-9]*`;
const SED_COMMAND = new RegExp(String.raw`${SED_RANGE}(?:${SED_CHANGE}|[pdqQ=nNDPxhHgGl]\d*|[{}])`, 'y');
const SED_BETWEEN = /[\s;]*/y;
const SED_END = /[ \t]*(?:[;\n}]|$)/y;

/** Addresses with p, d, q, =, n, and s or y without the flags that write or execute. */
export function sedScript(script: string): string | undefined {
  const why = 'this sed script can change files';
  if (script.length > LONGEST) return why;
  let at = matchAt(SED_BETWEEN, script, 0)?.length ?? 0;
  while (at < script.length) {
    const command = matchAt(SED_COMMAND, script, at);
    if (command === undefined) return why;
    at += command.length;
    if (!command.endsWith('{') && matchAt(SED_END, script, at) === undefined) return why;
    at += matchAt(SED_BETWEEN, script, at)?.length ?? 0;
  }
  return undefined;
}

/** The match of a sticky pattern at a position. One word after the other is read once; a pattern for all of them tries every way. */
function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

/** Anything that starts a program, opens a file or loads code. A `>` may be a comparison, so it is asked about too. */
export function awkProgram(program: string): string | undefined {
  // As it stands: where a string, a number or an expression ends is not for a pattern to say.
  const risky = /system|getline|close|ARG[VC]|(?:SYM|FUNC)TAB|printf?[\s\S]*>|@|\|/;
  if (program.length > LONGEST || risky.test(program.replaceAll('||', ' '))) {
    return 'this awk program may run a command or write a file';
  }
  return undefined;
}

/** Filters that see nothing but their input, and the words of the language. */
const JQ_WORDS = new Set(
  'and or not if then elif else end as reduce foreach try catch label break null true false empty error length utf8length keys keys_unsorted values has in map map_values path paths leaf_paths del delpaths getpath setpath to_entries from_entries with_entries select recurse walk add any all flatten range floor ceil round sqrt pow log exp tostring tonumber type sort sort_by group_by min max min_by max_by unique unique_by reverse contains inside startswith endswith ltrimstr rtrimstr trim ltrim rtrim explode implode split join ascii ascii_downcase ascii_upcase test match capture scan splits sub gsub tojson fromjson todate fromdate now strftime strptime mktime gmtime localtime dateadd datesub date limit first last nth until while repeat inputs input isvalid arrays objects iterables booleans numbers strings nulls scalars index rindex indices combinations transpose tostream fromstream abs toarray infinite nan isinfinite isnan isnormal'.split(
    ' ',
  ),
);
const JQ_LOOKS_AROUND =
  /^(env|input_\w+|debug|stderr|halt\w*|get_\w+|include|import|def|modulemeta|builtins|splits?_\w+)$/;
const JQ_TOKEN =
  /\s+|"(?:[^"\\]|\\[^(])*"|\.\.|\.?[A-Za-z_]\w*|\$[A-Za-z_]\w*|@(?:text|json|csv|tsv|html|uri|sh|base64d?)\b|\d+(?:\.\d+)?|[.[\]{}()|,:;?=!<>+\-*/%]/y;

/** Only what is known to look at nothing but the input; a comment, a string with a program in it and `def` are not. */
export function jqProgram(program: string): string | undefined {
  const why = 'this jq program may read more than its input';
  if (program.length > LONGEST) return why;
  let at = 0;
  while (at < program.length) {
    const token = matchAt(JQ_TOKEN, program, at);
    if (token === undefined) return why;
    if (token.startsWith('$') && (token === '$ENV' || token.startsWith('$__'))) return why;
    // `{name: .a}` has names of its own.
    const isKey = /^\s*:(?!:)/.test(program.slice(at + token.length)) && !JQ_LOOKS_AROUND.test(token);
    if (/^[A-Za-z_]/.test(token) && !JQ_WORDS.has(token) && !isKey) return why;
    at += token.length;
  }
  return undefined;
}
