import type { FlagTable, ParsedFlags } from '../../../shell/flags.ts';

/** The program texts of sed, awk and jq: the options that give one, else the first operand. */
export function scriptsOf({ options, operands }: ParsedFlags, ...names: string[]): (string | null)[] {
  const given = options.filter(({ name }) => names.includes(name)).map(({ value }) => value);
  return (given.length > 0 ? given : [operands[0]]).map((word) => (word?.pattern ? null : (word?.value ?? null)));
}

export function each(
  scripts: readonly (string | null)[],
  check: (script: string) => string | undefined,
): string | undefined {
  for (const script of scripts) {
    const reason = script === null ? 'its program is computed at run time' : check(script);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

export function atMostOne(why: string): (flags: ParsedFlags) => string | undefined {
  return ({ operands }) => (operands.length > 1 || operands.some(({ pattern }) => pattern) ? why : undefined);
}

export function testFlags(): FlagTable {
  return {
    alone: '-a -b -c -d -e -f -g -h -k -L -n -N -o -O -p -r -s -S -t -u -w -x -z -eq -ne -gt -ge -lt -le -nt -ot -ef',
    longWithOneDash: true,
  };
}

/** `test -v 'a[$(…)]'` and arithmetic comparisons evaluate their operands as expressions. */
export function testOperands({ operands }: ParsedFlags): string | undefined {
  return operands.some(({ value }) => value?.includes('[') && value !== '[') ? 'test evaluates an index' : undefined;
}

/** `%n` assigns a variable, and PATH is one. */
export function printfFormat({ operands: [format] }: ParsedFlags): string | undefined {
  if (format === undefined) return undefined;
  if (format.value === null || format.pattern) return 'its format is computed at run time';
  return /%[^%a-zA-Z(]*[hjlLqtz]*n/.test(format.value.replaceAll('%%', '')) ? 'printf assigns a variable' : undefined;
}
