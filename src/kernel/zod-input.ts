import { z } from 'zod';
import { inputSchema, isPlainObject, pathText, sentences } from './check-arguments.ts';
import type { InputSchema, Issue, JsonSchema, ParameterAliases } from './input-schema.ts';

/** A Zod object as an input schema. Throws when it cannot be said in JSON Schema: what no model can be told, no tool may ask. */
export function zodInput<S extends z.ZodType>(schema: S, aliases?: ParameterAliases): InputSchema<z.output<S>> {
  return checkedBy(schema, zodToJson(schema, 'input'), aliases);
}

/** For schemas whose JSON is written down elsewhere (parameter lists): the sentences speak of that JSON. */
export function checkedBy<S extends z.ZodType>(
  schema: S,
  json: JsonSchema,
  aliases?: ParameterAliases,
): InputSchema<z.output<S>> {
  if (json.type !== 'object') throw new TypeError('its input schema must be an object: use z.object({ … }).');
  return inputSchema(json, validate, aliases);

  function validate(args: Record<string, unknown>) {
    const parsed = schema.safeParse(args);
    if (parsed.success) return { value: parsed.data };
    return { issues: parsed.error.issues.map((issue) => toIssue(issue, args, json)) };
  }
}

export function zodToJson(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      // Zod says «safe integer» as two bounds nobody declared.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return json;
}

function toIssue(issue: z.core.$ZodIssue, args: unknown, json: JsonSchema): Issue {
  const path = pathText(issue.path);
  return { path, message: sentence(issue, path, at(args, issue.path), declared(json, issue.path)) };
}

function sentence(issue: z.core.$ZodIssue, path: string, given: unknown, schema: JsonSchema | undefined): string {
  if (given === undefined) return sentences.missing(path);
  switch (issue.code) {
    case 'invalid_type':
      return sentences.type(path, typeName(schema) ?? (issue.expected === 'int' ? 'integer' : issue.expected));
    case 'invalid_value':
      return wrongType(given, issue.values)
        ? sentences.type(path, typeName(schema) ?? typeof issue.values[0])
        : sentences.oneOf(path, issue.values);
    case 'too_small':
      return tooSmall(issue, path);
    case 'too_big':
      return tooBig(issue, path);
    case 'unrecognized_keys':
      return sentences.invalid(path, `it has no parameter ${issue.keys.map((key) => `'${key}'`).join(', ')}`);
    case 'invalid_union':
      return sentences.invalid(path, `must be ${alternatives(schema)}`);
    default:
      return sentences.invalid(path, lowerFirst(issue.message));
  }
}

function tooSmall(issue: z.core.$ZodIssueTooSmall, path: string): string {
  if (issue.origin === 'string') return sentences.tooShort(path, issue.minimum);
  if (issue.origin === 'array' || issue.origin === 'set') return sentences.tooFew(path, issue.minimum);
  if (issue.inclusive === false) return sentences.invalid(path, `must be above ${issue.minimum}`);
  return sentences.belowMinimum(path, issue.minimum);
}

function tooBig(issue: z.core.$ZodIssueTooBig, path: string): string {
  if (issue.origin === 'string') return sentences.tooLong(path, issue.maximum);
  if (issue.origin === 'array' || issue.origin === 'set') return sentences.tooMany(path, issue.maximum);
  if (issue.inclusive === false) return sentences.invalid(path, `must be below ${issue.maximum}`);
  return sentences.aboveMaximum(path, issue.maximum);
}

/** Zod names an enum's values even for a number given where a string belongs; the type is the better answer. */
function wrongType(given: unknown, values: readonly unknown[]): boolean {
  return values.every((value) => typeof value !== typeof given);
}

function alternatives(schema: JsonSchema | undefined): string {
  const options = schema?.anyOf ?? schema?.oneOf;
  const names = (Array.isArray(options) ? options : [schema]).map(typeName).filter(Boolean);
  return names.length > 0 ? names.join(' or ') : 'one of the forms the schema allows';
}

function typeName(schema: unknown): string | undefined {
  if (!isPlainObject(schema)) return undefined;
  if (typeof schema.type === 'string') return schema.type;
  return Array.isArray(schema.type) ? schema.type.join(' or ') : undefined;
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  let here = value;
  for (const key of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Record<PropertyKey, unknown>)[key];
  }
  return here;
}

function declared(json: JsonSchema, path: readonly PropertyKey[]): JsonSchema | undefined {
  let here: unknown = json;
  for (const key of path) {
    if (!isPlainObject(here)) return undefined;
    here = typeof key === 'number' ? here.items : (at(here.properties, [key]) ?? here.additionalProperties);
  }
  return isPlainObject(here) ? here : undefined;
}

function lowerFirst(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1);
}
