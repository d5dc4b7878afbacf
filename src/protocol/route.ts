import type { z } from 'zod';
import type { Role } from './health.ts';

/** One operation of the API: its input, its answers, and the role it needs. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Parameters as `:name`. */
  readonly path: `/${string}`;
  readonly summary: string;
  readonly needs: Role;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** Status and body of a success; `null` for a body that is not JSON. */
  readonly answers: Readonly<Record<number, z.ZodType | null>>;
  /** Codes a client of this operation should expect, besides UNAUTHENTICATED, FORBIDDEN and INVALID_INPUT. */
  readonly problems?: readonly string[];
}

export function route<const R extends Route>(definition: R): R {
  return definition;
}
