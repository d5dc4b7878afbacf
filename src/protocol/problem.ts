import { z } from 'zod';
import { ERROR_CODES } from '../kernel/error.ts';

/** Refusals of the HTTP server itself, besides the codes of calls. */
export const DOOR_CODES = [
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'GONE',
  'PRECONDITION_FAILED',
  'UNSUPPORTED_MEDIA_TYPE',
  'TOO_MANY_REQUESTS',
] as const;

/** RFC 9457 problem details, as `application/problem+json`. Programs branch on `code`. */
export const problem = z
  .object({
    type: z.string().describe('urn:toolwright:problem:CODE'),
    title: z.string(),
    status: z.int(),
    detail: z.string().describe('What happened and what to do next'),
    code: z.enum([...ERROR_CODES, ...DOOR_CODES]),
    details: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'Problem' });
export type Problem = z.infer<typeof problem>;
export type ProblemCode = Problem['code'];
