import { createRequire } from 'node:module';
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { plainCopy } from '../kernel/plain-copy.ts';
import { type ArgumentFinding, inputSchema, isPlainObject, sentences } from '../kernel/tool/check-arguments.ts';
import type { InputSchema, JsonSchema } from '../kernel/tool/input-schema.ts';
import { inTime, READ_MS } from './run-in-time.ts';

/**
 * Makes an input schema of a JSON Schema written elsewhere (an MCP server, a plain tool object), with the same messages
 * as our own. Throws when it is not a schema for an object.
 */
export function foreignInput(json: JsonSchema): InputSchema<Record<string, unknown>> {
  if (json.type !== 'object') throw new TypeError('its input schema must have type object.');
  if (mentions(json, '$async'))
    throw new TypeError('its input schema is asynchronous ($async): validation must answer at once.');
  const { $schema: _, ...schema } = json;
  const accepts = compiled(schema);
  return inputSchema(schema, validate);

  function validate(args: Record<string, unknown>) {
    // Ajv fills defaults into its input, which belongs to the caller.
    const value = plainCopy(args) as Record<string, unknown>;
    const accepted = inTime(() => accepts(value));
    if (accepted === true) return { value };
    if (accepted === undefined) return { findings: [TOO_LONG] };
    return {
      findings: (accepts.errors ?? []).filter(({ keyword }) => keyword !== 'if').map((error) => toFinding(error, args)),
    };
  }
}

function compiled(schema: JsonSchema): ValidateFunction {
  const ajv = newAjv();
  const accepts = inTime(() => ajv.compile(schema), READ_MS);
  if (accepts === undefined) throw new TypeError('its input schema takes too long to read.');
  return accepts;
}

const TOO_LONG: ArgumentFinding = {
  path: [],
  missing: false,
  say: (name) => sentences.invalid(name, "checking them against the tool's schema takes too long; try shorter texts."),
};

const require = createRequire(import.meta.url);

/** Loaded with the first foreign schema: most programs and commands have none. */
function newAjv() {
  const { Ajv2020 } = require('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js');
  const addFormats = require('ajv-formats') as typeof import('ajv-formats');
  const ajv = new Ajv2020({ strict: false, allErrors: true, useDefaults: true });
  addFormats.default(ajv);
  return ajv;
}

function mentions(value: unknown, key: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.hasOwn(value, key) || Object.values(value).some((inner) => mentions(inner, key));
}

function toFinding(error: ErrorObject, args: unknown): ArgumentFinding {
  const path = pointerPath(error.instancePath, args);
  if (error.keyword === 'required') {
    return { path: [...path, error.params.missingProperty as string], missing: true, say: sentences.missing };
  }
  return { path, missing: false, say: (name) => sentence(error, name) };
}

function sentence({ keyword, params, message }: ErrorObject, path: string): string {
  switch (keyword) {
    case 'type':
      return sentences.type(path, [params.type].flat().join(' or '));
    case 'enum':
      return sentences.oneOf(path, params.allowedValues);
    case 'minimum':
      return sentences.belowMinimum(path, params.limit);
    case 'maximum':
      return sentences.aboveMaximum(path, params.limit);
    case 'minLength':
      return sentences.tooShort(path, params.limit);
    case 'maxLength':
      return sentences.tooLong(path, params.limit);
    case 'minItems':
      return sentences.tooFew(path, params.limit);
    case 'maxItems':
      return sentences.tooMany(path, params.limit);
    case 'additionalProperties':
      return sentences.invalid(path, `it has no parameter '${params.additionalProperty}'`);
    default:
      return sentences.invalid(path, message ?? `it does not meet '${keyword}'`);
  }
}

/** `/edits/0/old` → `['edits', 0, 'old']`; a number is an index only where the arguments have an array. */
function pointerPath(pointer: string, args: unknown): PropertyKey[] {
  const keys = pointer.split('/').slice(1);
  let here = args;
  return keys.map((part) => {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    const step = Array.isArray(here) ? Number(key) : key;
    here = Array.isArray(here) ? here[Number(key)] : isPlainObject(here) ? here[key] : undefined;
    return step;
  });
}
