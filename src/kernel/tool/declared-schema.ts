import type { JsonSchema } from './input-schema.ts';

/** Returns the schema declared for one path in the arguments; of several alternatives, the first that declares it. */
export function declaredAt(json: JsonSchema, path: readonly PropertyKey[]): JsonSchema | undefined {
  return find(json, path);

  function find(here: unknown, [key, ...rest]: readonly PropertyKey[]): JsonSchema | undefined {
    const schema = followed(here);
    if (schema === undefined || key === undefined) return schema;
    const child = childOf(schema, key);
    if (child !== undefined) return find(child, rest);
    const options = schema.anyOf ?? schema.oneOf ?? schema.allOf;
    for (const option of Array.isArray(options) ? options : []) {
      const found = find(option, [key, ...rest]);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  function followed(schema: unknown): JsonSchema | undefined {
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return undefined;
    const { $ref } = schema as JsonSchema;
    if (typeof $ref !== 'string') return schema as JsonSchema;
    if ($ref === '#') return json;
    const name = /^#\/\$defs\/(.+)$/.exec($ref)?.[1];
    const definitions = json.$defs as Record<string, unknown> | undefined;
    return name === undefined ? undefined : followed(definitions?.[name]);
  }
}

function childOf(schema: JsonSchema, key: PropertyKey): unknown {
  if (typeof key === 'number') return (schema.prefixItems as unknown[] | undefined)?.[key] ?? schema.items;
  const properties = schema.properties as Record<PropertyKey, unknown> | undefined;
  if (properties !== undefined && Object.hasOwn(properties, key)) return properties[key];
  return typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
}

export function typeName(schema: unknown): string | undefined {
  const type = (schema as JsonSchema | null | undefined)?.type;
  if (typeof type === 'string') return type;
  return Array.isArray(type) ? type.join(' or ') : undefined;
}
