import { nearest } from '../text/nearest.ts';
import type { CheckedArguments, InputSchema, Issue, JsonSchema, ParameterAliases } from './input-schema.ts';

/** One problem that a validator found. Its sentence is made later, when the shown name of the parameter is known. */
export interface ArgumentFinding {
  readonly path: readonly PropertyKey[];
  readonly missing: boolean;
  say(path: string): string;
}

/** Validates and fills in defaults; `findings` are in the validator's order. */
export type Validate<T> = (args: Record<string, unknown>) => { value: T } | { findings: readonly ArgumentFinding[] };

/** Shown names of parameters by their own names: a toolset may show `path` as `file`. */
export type ShownNames = ReadonlyMap<string, string>;

/**
 * Wraps a validator as an input schema: arguments are an object, aliases become the one advertised name, an unknown
 * parameter is a warning, and a missing parameter is reported before a wrong one.
 */
export function inputSchema<T>(
  json: JsonSchema,
  validate: Validate<T>,
  aliases: ParameterAliases = {},
  shown: ShownNames = new Map(),
): InputSchema<T> {
  const advertised = shown.size === 0 ? json : renamed(json, shown);
  const known = shapeOf(advertised);
  const otherNames = namesToOwn(json, aliases, shown);
  return { json: advertised, check, shownAs: (names) => inputSchema(json, validate, aliases, names) };

  function check(args: unknown): CheckedArguments<T> {
    if (!isPlainObject(args)) {
      return refused([{ path: '', message: `Arguments must be an object, got ${nameOf(args)}.` }], []);
    }
    const warnings: string[] = [];
    const named = otherNames.size === 0 ? args : toOwnNames(args, otherNames, warnings);
    if (known !== undefined) warnOfUnknown(args, known, '', warnings, otherNames);
    const outcome = validate(named);
    if ('value' in outcome) return { ok: true, value: outcome.value, warnings };
    return refused(missingFirst(outcome.findings).map(toIssue), warnings);
  }

  function toIssue({ path: own, say }: ArgumentFinding): Issue {
    const [first, ...rest] = own;
    const path = pathText(first === undefined ? [] : [shown.get(String(first)) ?? first, ...rest]);
    return { path, message: say(path) };
  }
}

function refused([first, ...rest]: readonly Issue[], warnings: readonly string[]): CheckedArguments<never> {
  const reason = first ?? { path: '', message: 'The arguments do not fit the schema.' };
  return { ok: false, issues: [reason, ...rest], warnings };
}

export const sentences = {
  missing: (path: string) => `Missing required parameter: ${path}`,
  type: (path: string, expected: string) => `Invalid type for ${path}: expected ${expected}`,
  oneOf: (path: string, values: readonly unknown[]) =>
    `Invalid value for ${path}: must be one of [${values.map(quoted).join(', ')}]`,
  belowMinimum: (path: string, minimum: unknown) => `Value for ${path} is below minimum: ${minimum}`,
  aboveMaximum: (path: string, maximum: unknown) => `Value for ${path} exceeds maximum: ${maximum}`,
  tooShort: (path: string, length: unknown) => `Value for ${path} is shorter than minimum length: ${length}`,
  tooLong: (path: string, length: unknown) => `Value for ${path} exceeds maximum length: ${length}`,
  tooFew: (path: string, count: unknown) => `Value for ${path} has fewer items than the minimum: ${count}`,
  tooMany: (path: string, count: unknown) => `Value for ${path} has more items than the maximum: ${count}`,
  invalid: (path: string, why: string) => `Invalid value for ${path || 'the arguments'}: ${why}`,
};

/** `['edits', 0, 'old']` → `edits[0].old`. */
function pathText(path: readonly PropertyKey[]): string {
  let text = '';
  for (const key of path) text += typeof key === 'number' ? `[${key}]` : `${text === '' ? '' : '.'}${String(key)}`;
  return text;
}

function missingFirst(findings: readonly ArgumentFinding[]): ArgumentFinding[] {
  return [...findings.filter(({ missing }) => missing), ...findings.filter(({ missing }) => !missing)];
}

/** Throws on aliases that could never work: they would silently hide a parameter. */
function namesToOwn(json: JsonSchema, aliases: ParameterAliases, shown: ShownNames): Map<string, string> {
  const own = new Set(isPlainObject(json.properties) ? Object.keys(json.properties) : []);
  const names = new Map<string, string>();
  for (const [name, others] of Object.entries(aliases)) {
    if (!own.has(name) && others.length > 0)
      throw new TypeError(`it has aliases for '${name}', which is no parameter.`);
    for (const other of others) {
      if (own.has(other)) throw new TypeError(`the alias '${other}' of '${name}' is a parameter itself.`);
      if (names.has(other)) throw new TypeError(`the alias '${other}' stands for two parameters.`);
      names.set(other, name);
    }
  }
  for (const [name, as] of shown) names.set(as, name);
  return names;
}

function toOwnNames(args: Record<string, unknown>, names: ReadonlyMap<string, string>, warnings: string[]) {
  const result: Record<string, unknown> = {};
  const givenAs = new Map<string, string>();
  for (const key of Object.keys(args)) {
    const own = names.get(key) ?? key;
    const earlier = givenAs.get(own);
    // The advertised name wins over an alias, whichever comes first.
    if (earlier !== undefined)
      warnings.push(
        `Parameter '${earlier === own ? key : earlier}' was ignored: '${earlier === own ? earlier : key}' was given too.`,
      );
    if (earlier === own) continue;
    givenAs.set(own, key);
    Object.defineProperty(result, own, { value: args[key], enumerable: true, configurable: true, writable: true });
  }
  return result;
}

function renamed(json: JsonSchema, shown: ShownNames): JsonSchema {
  const { properties, required } = json;
  const show = (own: string) => shown.get(own) ?? own;
  return {
    ...json,
    ...(isPlainObject(properties) && {
      properties: Object.fromEntries(Object.entries(properties).map(([own, schema]) => [show(own), schema])),
    }),
    ...(Array.isArray(required) && { required: required.map(show) }),
  };
}

/** Which keys an object may have; `undefined` where anything goes, or where the validator itself refuses the rest. */
interface Shape {
  keys: Map<string, Shape | undefined>;
  /** For arrays: the shape of each item. `keys` is empty then. */
  items?: Shape;
}

function shapeOf(json: unknown): Shape | undefined {
  if (!isPlainObject(json)) return undefined;
  if (isPlainObject(json.items)) {
    const items = shapeOf(json.items);
    return items === undefined ? undefined : { keys: new Map(), items };
  }
  const onlyObject = nullable(json);
  if (onlyObject !== undefined) return shapeOf(onlyObject);
  if (!isPlainObject(json.properties) || json.additionalProperties !== undefined) return undefined;
  return { keys: new Map(Object.entries(json.properties).map(([key, value]) => [key, shapeOf(value)])) };
}

/** The one schema beside `null`. */
function nullable({ anyOf }: Record<string, unknown>): unknown {
  if (!Array.isArray(anyOf)) return undefined;
  const others = anyOf.filter((option) => !isPlainObject(option) || option.type !== 'null');
  return others.length === 1 ? others[0] : undefined;
}

function warnOfUnknown(
  value: unknown,
  shape: Shape,
  at: string,
  warnings: string[],
  otherNames: ReadonlyMap<string, string> = NO_NAMES,
): void {
  if (shape.items !== undefined) {
    if (!Array.isArray(value)) return;
    for (const [index, item] of value.entries()) warnOfUnknown(item, shape.items, `${at}[${index}]`, warnings);
    return;
  }
  if (!isPlainObject(value)) return;
  for (const key of Object.keys(value)) {
    const path = at === '' ? key : `${at}.${key}`;
    const inner = shape.keys.get(key);
    if (inner !== undefined) warnOfUnknown(value[key], inner, path, warnings);
    else if (!shape.keys.has(key) && !otherNames.has(key) && warnings.length < MAX_WARNINGS) {
      warnings.push(unknownParameter(key, path, [...shape.keys.keys()]));
    }
  }
}

const NO_NAMES: ReadonlyMap<string, string> = new Map();

/** A model that sends a thousand odd keys learns from the first few. */
const MAX_WARNINGS = 10;

function unknownParameter(key: string, path: string, names: string[]): string {
  const [guess] = nearest(key, names);
  return `Unknown parameter '${path.slice(0, 100)}' was ignored.${guess === undefined ? '' : ` Did you mean '${guess}'?`}`;
}

function quoted(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : (JSON.stringify(value) ?? String(value));
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function nameOf(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'nothing';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}
