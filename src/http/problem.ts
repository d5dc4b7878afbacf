import { type Failure, knownCode } from '../kernel/error.ts';
import type { Problem, ProblemCode } from '../protocol/problem.ts';

/** Status and title of every code. A new code does not compile before it is listed here. */
const STATUS_AND_TITLE: Record<ProblemCode, readonly [status: number, title: string]> = {
  INVALID_INPUT: [400, 'Invalid request'],
  UNKNOWN_TOOL: [404, 'Unknown tool'],
  TOOL_DISABLED: [409, 'Tool disabled'],
  INVALID_PATH: [400, 'Invalid path'],
  FILE_NOT_FOUND: [404, 'File not found'],
  PERMISSION_DENIED: [403, 'Permission denied'],
  CONFLICT: [409, 'Conflict'],
  TOO_LARGE: [413, 'Too large'],
  APPROVAL_DENIED: [403, 'Denied by a person'],
  APPROVAL_EXPIRED: [410, 'Approval expired'],
  TIMEOUT: [504, 'Timed out'],
  CANCELLED: [409, 'Cancelled'],
  EXECUTION_ERROR: [422, 'Execution failed'],
  NETWORK_ERROR: [502, 'Network error'],
  NOT_CONFIGURED: [501, 'Not configured'],
  SANDBOX_UNAVAILABLE: [503, 'Sandbox unavailable'],
  INTERNAL: [500, 'Internal error'],
  UNAUTHENTICATED: [401, 'Unauthorized'],
  FORBIDDEN: [403, 'Forbidden'],
  NOT_FOUND: [404, 'Not found'],
  METHOD_NOT_ALLOWED: [405, 'Method not allowed'],
  GONE: [410, 'Gone'],
  PRECONDITION_FAILED: [412, 'Precondition failed'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'Unsupported media type'],
  TOO_MANY_REQUESTS: [429, 'Too many requests'],
};

export interface HttpFailure {
  readonly code: ProblemCode;
  readonly message: string;
  readonly details?: Record<string, unknown> | undefined;
}

export function toProblem({ code, message, details }: HttpFailure): Problem {
  const [status, title] = STATUS_AND_TITLE[code];
  const problem: Problem = { type: `urn:toolwright:problem:${code}`, title, status, detail: message, code };
  if (details !== undefined) problem.details = details;
  return problem;
}

export function problemResponse(trouble: HttpFailure, headers: Record<string, string> = {}): Response {
  const problem = toProblem(trouble);
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: { 'Content-Type': 'application/problem+json', ...headers },
  });
}

export function refuse(code: ProblemCode, message: string, details?: Record<string, unknown>): Response {
  return problemResponse({ code, message, details });
}

export function failureResponse({ code, message, details }: Failure): Response {
  return problemResponse({ code: knownCode(code), message, details });
}
