import type { Checked, InputSchema, Issue, JsonSchema, ParameterAliases } from './input-schema.ts';
import { nearest } from './nearest.ts';

/** Validates and fills in defaults; `issues` are in the validator's order. */
export type Validate<T> = (args: Record<string, unknown>) => { value: T } | { issues: Issue[] };

/**
 * What every input schema does around its validator: arguments are an object, aliases become the one advertised
 * name, what nobody asked for is a warning, and a missing parameter is said before a wrong one.
 */
export function inputSchema<T>(
  json: JsonSchema,
  validate: Validate<T>,
  aliases: ParameterAliases = {},
): InputSchema<T> {
  const known = shapeOf(json);
  const canonical = new Map(Object.entries(aliases).flatMap(([name, others]) => others.map((other) => [other, name])));
  return { json, check };

  function check(args: unknown): Checked<T> {
    if (!isPlainObject(args)) {
      return refused([{ path: '', message: `Arguments must be an object, got ${nameOf(args)}.` }], []);
    }
    const warnings: string[] = [];
    const named = canonical.size === 0 ? args : resolveAliases(args, canonical, warnings);
    if (known !== undefined) warnOfUnknown(named, known, '', warnings);
    const outcome = validate(named);
    if ('value' in outcome) return { ok: true, value: outcome.value, warnings };
    return refused(missingFirst(outcome.issues), warnings);
  }
}

function refused([first, ...rest]: readonly Issue[], warnings: readonly string[]): Checked<never> {
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
export function pathText(path: readonly PropertyKey[]): string {
  let text = '';
  for (const key of path) text += typeof key === 'number' ? `[${key}]` : `${text === '' ? '' : '.'}${String(key)}`;
  return text;
}

function missingFirst(issues: Issue[]): Issue[] {
  const isMissing = (issue: Issue) => issue.message.startsWith('Missing required');
  return [...issues.filter(isMissing), ...issues.filter((issue) => !isMissing(issue))];
}

function resolveAliases(args: Record<string, unknown>, canonical: Map<string, string>, warnings: string[]) {
  const named: Record<string, unknown> = { ...args };
  for (const key of Object.keys(args)) {
    const name = canonical.get(key);
    if (name === undefined) continue;
    if (Object.hasOwn(args, name)) warnings.push(`Parameter '${key}' was ignored: '${name}' was given too.`);
    else named[name] = args[key];
    delete named[key];
  }
  return named;
}

/** Which keys an object may have; `undefined` where anything goes. */
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
  const open = json.additionalProperties !== undefined && json.additionalProperties !== false;
  if (!isPlainObject(json.properties) || open) return undefined;
  return { keys: new Map(Object.entries(json.properties).map(([key, value]) => [key, shapeOf(value)])) };
}

function warnOfUnknown(value: unknown, shape: Shape, at: string, warnings: string[]): void {
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
    else if (!shape.keys.has(key) && warnings.length < MOST_WARNINGS) {
      warnings.push(unknownParameter(key, path, [...shape.keys.keys()]));
    }
  }
}

/** A model that sends a thousand odd keys learns from the first few. */
const MOST_WARNINGS = 10;

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
