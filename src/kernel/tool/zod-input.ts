import { z } from 'zod';
import { type ArgumentFinding, inputSchema, isPlainObject, sentences } from './check-arguments.ts';
import { declaredAt, typeName } from './declared-schema.ts';
import type { InputSchema, JsonSchema, ParameterAliases } from './input-schema.ts';

/** Zod 4, classic or mini. */
type AnyZod = z.core.$ZodType;

/** A Zod object as an input schema. Throws when JSON Schema cannot express it: no model could be told. */
export function zodInput<S extends AnyZod>(schema: S, aliases?: ParameterAliases): InputSchema<z.output<S>> {
  return checkedBy(schema, zodToJson(schema, 'input'), aliases);
}

/** For schemas whose JSON is written down elsewhere (parameter lists): the sentences speak of that JSON. */
export function checkedBy<S extends AnyZod>(
  schema: S,
  json: JsonSchema,
  aliases?: ParameterAliases,
): InputSchema<z.output<S>> {
  if (json.type !== 'object') throw new TypeError('its input schema must be an object: use z.object({ … }).');
  return inputSchema(json, validate, aliases);

  function validate(args: Record<string, unknown>) {
    const parsed = z.safeParse(schema, args);
    if (parsed.success) return { value: parsed.data };
    return { findings: parsed.error.issues.map((issue) => toFinding(issue, [], args, json)) };
  }
}

/** True for a schema of Zod 4. Throws for one of Zod 3, which looks alike and is not. */
export function isZod(schema: unknown): schema is AnyZod {
  if (typeof schema !== 'object' || schema === null) return false;
  if ('_zod' in schema) return true;
  if ('_def' in schema && 'safeParse' in schema) throw new TypeError('its schema is of Zod 3: use zod 4.');
  return false;
}

export function zodToJson(schema: AnyZod, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      // Zod expresses "safe integer" as two bounds that were not declared.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return json;
}

function toFinding(
  issue: z.core.$ZodIssue,
  above: readonly PropertyKey[],
  args: unknown,
  json: JsonSchema,
): ArgumentFinding {
  const path = [...above, ...issue.path];
  const nearer = issue.code === 'invalid_union' ? insideUnion(issue, valueAt(args, path)) : undefined;
  if (nearer !== undefined) return toFinding(nearer, path, args, json);
  const given = valueAt(args, path);
  const missing = given === undefined && MAY_BE_MISSING.has(issue.code);
  return {
    path,
    missing,
    say: (name) => (missing ? sentences.missing(name) : sentence(issue, name, given, json, path)),
  };
}

/** Whether a parameter is missing: Zod reports that as a wrong type, and a refinement may be about an absent parameter. */
const MAY_BE_MISSING = new Set(['invalid_type', 'invalid_value', 'invalid_union']);

/** The best-fitting alternative of a union: of the right kind, with the least missing, then with the least wrong. */
function insideUnion(issue: z.core.$ZodIssueInvalidUnion, given: unknown): z.core.$ZodIssue | undefined {
  const missing = (issues: readonly z.core.$ZodIssue[]) =>
    issues.filter(({ path }) => valueAt(given, path) === undefined).length;
  const [best] = (issue.errors ?? [])
    .filter((issues) => issues.length > 0 && issues.every(({ path }) => path.length > 0))
    .sort((a, b) => missing(a) - missing(b) || a.length - b.length);
  return best?.[0];
}

function sentence(
  issue: z.core.$ZodIssue,
  name: string,
  given: unknown,
  json: JsonSchema,
  path: readonly PropertyKey[],
): string {
  const schema = declaredAt(json, path);
  switch (issue.code) {
    case 'invalid_type':
      return sentences.type(name, typeName(schema) ?? (issue.expected === 'int' ? 'integer' : issue.expected));
    case 'invalid_value':
      return wrongType(given, issue.values)
        ? sentences.type(name, typeName(schema) ?? typeof issue.values[0])
        : sentences.oneOf(name, issue.values);
    case 'too_small':
      return tooSmall(issue, name);
    case 'too_big':
      return tooBig(issue, name);
    case 'unrecognized_keys':
      return sentences.invalid(name, `it has no parameter ${issue.keys.map((key) => `'${key}'`).join(', ')}`);
    case 'invalid_union':
      return unionSentence(issue, name, schema, declaredAt(json, path.slice(0, -1)));
    default:
      return sentences.invalid(name, lowerFirst(issue.message));
  }
}

function unionSentence(
  issue: z.core.$ZodIssueInvalidUnion,
  name: string,
  schema: JsonSchema | undefined,
  around: JsonSchema | undefined,
): string {
  const discriminator = (issue as { discriminator?: string }).discriminator;
  if (discriminator !== undefined) {
    // Zod names the discriminator in the path; its values stand in the alternatives around it.
    const values = alternatives(around)
      .map((option) => constantOf(option, discriminator))
      .filter((value) => value !== undefined);
    if (values.length > 0) return sentences.oneOf(name, values);
  }
  const names = [...new Set(alternatives(schema).map(typeName).filter(Boolean))];
  return sentences.invalid(
    name,
    `must be ${names.length > 0 ? names.join(' or ') : 'one of the forms the schema allows'}`,
  );
}

function alternatives(schema: JsonSchema | undefined): unknown[] {
  const options = schema?.anyOf ?? schema?.oneOf;
  return Array.isArray(options) ? options : [schema];
}

function constantOf(option: unknown, key: string): unknown {
  const properties = isPlainObject(option) ? option.properties : undefined;
  const schema = isPlainObject(properties) ? properties[key] : undefined;
  return isPlainObject(schema) ? schema.const : undefined;
}

function tooSmall(issue: z.core.$ZodIssueTooSmall, name: string): string {
  if (issue.origin === 'string') return sentences.tooShort(name, issue.minimum);
  if (issue.origin === 'array' || issue.origin === 'set') return sentences.tooFew(name, issue.minimum);
  if (issue.inclusive === false) return sentences.invalid(name, `must be above ${issue.minimum}`);
  return sentences.belowMinimum(name, issue.minimum);
}

function tooBig(issue: z.core.$ZodIssueTooBig, name: string): string {
  if (issue.origin === 'string') return sentences.tooLong(name, issue.maximum);
  if (issue.origin === 'array' || issue.origin === 'set') return sentences.tooMany(name, issue.maximum);
  if (issue.inclusive === false) return sentences.invalid(name, `must be below ${issue.maximum}`);
  return sentences.aboveMaximum(name, issue.maximum);
}

/** Zod names an enum's values even for a number given where a string belongs; the type is the better answer. */
function wrongType(given: unknown, values: readonly unknown[]): boolean {
  return values.every((value) => typeof value !== typeof given);
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let here = value;
  for (const key of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Record<PropertyKey, unknown>)[key];
  }
  return here;
}

function lowerFirst(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1);
}
