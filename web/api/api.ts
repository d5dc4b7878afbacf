import type { Problem } from '../../src/protocol/problem.ts';
import { type ApiAnswer, type ApiBody, type ApiOperation, type ApiQuery, OPERATIONS } from './operations.ts';
import { token } from './token.ts';

export interface ApiRequest<O extends ApiOperation> {
  /** Path parameters. */
  at?: Record<string, string>;
  query?: ApiQuery<O>;
  body?: ApiBody<O>;
  headers?: Record<string, string>;
}

/** A refusal with the server's own message, which names the next step. */
export class ApiProblem extends Error {
  readonly code: Problem['code'] | 'UNREACHABLE';
  readonly details: Problem['details'];

  constructor(code: ApiProblem['code'], detail: string, details?: Problem['details']) {
    super(detail);
    this.code = code;
    this.details = details;
  }
}

export async function api<O extends ApiOperation>(operation: O, given: ApiRequest<O> = {}): Promise<ApiAnswer<O>> {
  const [method, template] = OPERATIONS[operation].split(' ') as [string, string];
  const path = template.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(given.at?.[name] ?? ''));
  const query = new URLSearchParams(toQueryValues(given.query as object | undefined)).toString();
  const response = await fetch(query === '' ? path : `${path}?${query}`, {
    method,
    headers: {
      authorization: `Bearer ${token()}`,
      ...(given.body !== undefined && { 'content-type': 'application/json' }),
      ...given.headers,
    },
    ...(given.body !== undefined && { body: JSON.stringify(given.body) }),
  }).catch(() => null);
  if (response === null) throw new ApiProblem('UNREACHABLE', 'The server does not answer. Is it still running?');
  if (!response.ok) throw await problemOf(response);
  return (response.status === 204 ? undefined : await response.json()) as ApiAnswer<O>;
}

async function problemOf(response: Response): Promise<ApiProblem> {
  const problem = (await response.json().catch(() => null)) as Problem | null;
  const detail = problem?.detail ?? `The server answered ${response.status}.`;
  return new ApiProblem(problem?.code ?? 'INTERNAL', detail, problem?.details);
}

function toQueryValues(query: object | undefined): Record<string, string> {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== '');
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
