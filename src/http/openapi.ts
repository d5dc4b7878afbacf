import { z } from 'zod';
import { problem } from '../protocol/problem.ts';
import type { Route } from '../protocol/route.ts';
import { ROUTES } from '../protocol/routes.ts';

type Json = Record<string, unknown>;

/** The API as an OpenAPI 3.1 document, made from the same table and schemas that the server checks requests with. */
export function openApiDocument(version: string): Json {
  const paths: Record<string, Json> = {};
  const schemas: Json = {};
  const schemaOf = (schema: z.ZodType, io: 'input' | 'output') => toSchema(schema, io, schemas);
  for (const [operationId, route] of Object.entries(ROUTES) as [string, Route][]) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] ??= {};
    paths[path][route.method.toLowerCase()] = operation(operationId, route, schemaOf);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Toolwright', version, description: 'Run tools, answer approvals, follow events.' },
    servers: [{ url: '/' }],
    security: [{ token: [] }],
    paths,
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } }, schemas },
  };
}

type SchemaOf = (schema: z.ZodType, io: 'input' | 'output') => Json;

function operation(operationId: string, route: Route, schemaOf: SchemaOf): Json {
  const { path, summary, query, body, answers, needs, problems = [] } = route;
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) =>
    parameter(name ?? '', 'path', { type: 'string' }, true),
  );
  const inQuery = query === undefined ? [] : queryParameters(schemaOf(query, 'input'));
  const responses: Json = {};
  for (const [status, schema] of Object.entries(answers)) {
    responses[status] =
      schema === null
        ? { description: summary }
        : { description: summary, content: { 'application/json': { schema: schemaOf(schema, 'output') } } };
  }
  const codes = ['UNAUTHENTICATED', 'FORBIDDEN', 'INVALID_INPUT', ...problems].join(', ');
  responses.default = {
    description: `A problem: ${codes}`,
    content: { 'application/problem+json': { schema: schemaOf(problem, 'output') } },
  };
  return {
    operationId,
    summary,
    description: `Needs the role ${needs}.`,
    ...(inPath.length + inQuery.length > 0 && { parameters: [...inPath, ...inQuery] }),
    ...(body !== undefined && {
      requestBody: { content: { 'application/json': { schema: schemaOf(body, 'input') } } },
    }),
    responses,
  };
}

function queryParameters(schema: Json): Json[] {
  const required = (schema.required ?? []) as string[];
  return Object.entries((schema.properties ?? {}) as Record<string, Json>).map(([name, each]) =>
    parameter(name, 'query', each, required.includes(name)),
  );
}

function parameter(name: string, place: 'path' | 'query', schema: Json, required: boolean): Json {
  const { description, ...rest } = schema;
  return { name, in: place, required, ...(description !== undefined && { description }), schema: rest };
}

/** Moves named schemas to components and refers to them there. */
function toSchema(schema: z.ZodType, io: 'input' | 'output', components: Json): Json {
  const made = z.toJSONSchema(schema, { io, unrepresentable: 'any', target: 'draft-2020-12' }) as Json;
  const { $schema: _dialect, $defs = {}, ...rest } = made;
  for (const [name, definition] of Object.entries($defs as Json)) components[name] ??= renamed(definition);
  const id = schema.meta()?.id;
  if (id === undefined) return renamed(rest) as Json;
  const { id: _id, ...definition } = renamed(rest) as Json;
  components[id] ??= definition;
  return { $ref: `#/components/schemas/${id}` };
}

function renamed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renamed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== 'id' || !('$ref' in value))
      .map(([key, inner]) =>
        key === '$ref' && typeof inner === 'string'
          ? [key, inner.replace('#/$defs/', '#/components/schemas/')]
          : [key, renamed(inner)],
      ),
  );
}
