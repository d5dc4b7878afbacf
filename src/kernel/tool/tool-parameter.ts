import { z } from 'zod';
import { ToolError } from '../error.ts';
import type { InputSchema, JsonSchema } from './input-schema.ts';
import { checkedBy } from './zod-input.ts';

const TYPES = ['string', 'integer', 'number', 'boolean', 'array', 'object'] as const;
export type ParameterType = (typeof TYPES)[number];

export interface ToolParameterInit {
  name: string;
  type: ParameterType;
  description: string;
  /** Defaults to true, unless there is a default value. */
  required?: boolean;
  default?: unknown;
  enum?: readonly (string | number)[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  /** For arrays: what each item is. */
  items?: ToolParameterInit;
  /** For objects: its own parameters. Without them any object is accepted. */
  properties?: readonly ToolParameterInit[];
  /** Other names accepted for it; only `name` is advertised. */
  aliases?: readonly string[];
}

/** One parameter of a tool written as a list (see BaseTool). Throws on a definition that could never be met. */
export class ToolParameter {
  readonly name: string;
  readonly type: ParameterType;
  readonly description: string;
  readonly required: boolean;
  readonly default: unknown;
  readonly enum: readonly (string | number)[] | undefined;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  readonly minLength: number | undefined;
  readonly maxLength: number | undefined;
  readonly items: ToolParameter | undefined;
  readonly properties: readonly ToolParameter[] | undefined;
  readonly aliases: readonly string[];

  constructor(init: ToolParameterInit) {
    this.name = init.name;
    this.type = init.type;
    this.description = init.description;
    this.required = init.required ?? init.default === undefined;
    this.default = init.default;
    this.enum = init.enum;
    this.minimum = init.minimum;
    this.maximum = init.maximum;
    this.minLength = init.minLength;
    this.maxLength = init.maxLength;
    this.items = init.items && new ToolParameter(init.items);
    this.properties = init.properties?.map((inner) => new ToolParameter(inner));
    this.aliases = init.aliases ?? [];
    this.#refuseNonsense();
  }

  toJsonSchema(): JsonSchema {
    return withoutUndefined({
      type: this.type,
      description: this.description,
      default: this.default,
      enum: this.enum,
      minimum: this.minimum,
      maximum: this.maximum,
      minLength: this.minLength,
      maxLength: this.maxLength,
      items: this.items?.toJsonSchema(),
      ...(this.properties && objectJson(this.properties)),
    });
  }

  toZod(): z.ZodType {
    const base = this.#bare();
    if (this.default !== undefined) return base.default(this.default);
    return this.required ? base : base.optional();
  }

  #bare(): z.ZodType {
    return this.enum === undefined ? this.#unlisted() : z.literal([...this.enum]);
  }

  #unlisted(): z.ZodType {
    switch (this.type) {
      case 'string':
        return bounded(z.string(), this.minLength, this.maxLength);
      case 'integer':
        return bounded(z.int(), this.minimum, this.maximum);
      case 'number':
        return bounded(z.number(), this.minimum, this.maximum);
      case 'boolean':
        return z.boolean();
      case 'array':
        return z.array(this.items?.toZod() ?? z.unknown());
      case 'object':
        return this.properties ? objectZod(this.properties) : z.record(z.string(), z.unknown());
    }
  }

  #refuseNonsense(): void {
    if (typeof this.name !== 'string' || this.name === '') throw this.#invalid('a parameter needs a name.');
    if (!TYPES.includes(this.type)) throw this.#invalid(`type '${this.type}' is unknown: use ${TYPES.join(', ')}.`);
    if (typeof this.description !== 'string' || this.description === '') {
      throw this.#invalid('it needs a description: the model reads nothing else about it.');
    }
    if (this.required && this.default !== undefined)
      throw this.#invalid('it is required, so its default would never be used.');
    if (this.enum?.length === 0) throw this.#invalid('its enum is empty, so nothing would fit.');
    this.#refuseBounds('minimum', 'maximum', ['integer', 'number']);
    this.#refuseBounds('minLength', 'maxLength', ['string']);
    const misfit = this.enum?.find((value) => !this.#unlisted().safeParse(value).success);
    if (misfit !== undefined) throw this.#invalid(`its enum value ${JSON.stringify(misfit)} does not fit it.`);
    if (this.default !== undefined && !this.#bare().safeParse(this.default).success) {
      throw this.#invalid(`its default ${JSON.stringify(this.default)} does not fit it.`);
    }
  }

  #refuseBounds(low: 'minimum' | 'minLength', high: 'maximum' | 'maxLength', types: readonly ParameterType[]): void {
    const [least, most] = [this[low], this[high]];
    if (least === undefined && most === undefined) return;
    if (!types.includes(this.type)) throw this.#invalid(`${low} and ${high} are for ${types.join(' and ')}.`);
    if (least !== undefined && most !== undefined && least > most)
      throw this.#invalid(`its ${low} is above its ${high}.`);
    if (low === 'minLength' && ((least ?? 0) < 0 || (most ?? 0) < 0))
      throw this.#invalid('a length cannot be negative.');
  }

  #invalid(why: string): ToolError {
    return new ToolError('ToolParameter', `Parameter '${this.name}': ${why}`, { code: 'INVALID_INPUT' });
  }
}

/** A whole parameter list as an input schema: one JSON for every format, one validator behind it. */
export function parametersInput(parameters: readonly ToolParameter[]): InputSchema<Record<string, unknown>> {
  const names = parameters.map((parameter) => parameter.name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) {
    throw new ToolError('ToolParameter', `Parameter '${twice}' is defined twice.`, { code: 'INVALID_INPUT' });
  }
  const aliases = Object.fromEntries(parameters.map(({ name, aliases }) => [name, aliases]));
  return checkedBy(objectZod(parameters), { type: 'object', ...objectJson(parameters) }, aliases);
}

function objectZod(parameters: readonly ToolParameter[]) {
  return z.object(Object.fromEntries(parameters.map((parameter) => [parameter.name, parameter.toZod()])));
}

function objectJson(parameters: readonly ToolParameter[]) {
  return {
    properties: Object.fromEntries(parameters.map((parameter) => [parameter.name, parameter.toJsonSchema()])),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
  };
}

function bounded<S extends z.ZodString | z.ZodNumber | z.ZodInt>(schema: S, min?: number, max?: number): S {
  let result = schema;
  if (min !== undefined) result = result.min(min) as S;
  if (max !== undefined) result = result.max(max) as S;
  return result;
}

function withoutUndefined(object: Record<string, unknown>): JsonSchema {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}
