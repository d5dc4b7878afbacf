import type { Failure } from '../kernel/error.ts';
import type { Problem, ProblemCode } from '../protocol/problem.ts';

/** One answer for every code there is: a new one does not compile before it has its place here. */
const ANSWERS: Record<ProblemCode, readonly [status: number, title: string]> = {
  INVALID_INPUT: [400, 'The request does not fit'],
  UNKNOWN_TOOL: [404, 'There is no such tool'],
  TOOL_DISABLED: [409, 'The tool is switched off'],
  INVALID_PATH: [400, 'The path cannot be used'],
  FILE_NOT_FOUND: [404, 'Nothing is there'],
  PERMISSION_DENIED: [403, 'It is not allowed'],
  CONFLICT: [409, 'It is not as you expect'],
  TOO_LARGE: [413, 'It is too large'],
  APPROVAL_DENIED: [403, 'A person refused'],
  APPROVAL_EXPIRED: [410, 'Nobody answered in time'],
  TIMEOUT: [504, 'It took too long'],
  CANCELLED: [409, 'It was cancelled'],
  EXECUTION_ERROR: [422, 'It failed'],
  NETWORK_ERROR: [502, 'The network failed'],
  NOT_CONFIGURED: [501, 'It is not set up'],
  SANDBOX_UNAVAILABLE: [503, 'There is no sandbox'],
  INTERNAL: [500, 'Something of ours failed'],
  UNAUTHENTICATED: [401, 'Who are you?'],
  FORBIDDEN: [403, 'Your role may not do that'],
  NOT_FOUND: [404, 'There is no such thing'],
  METHOD_NOT_ALLOWED: [405, 'Another method is needed'],
  GONE: [410, 'It is over'],
  PRECONDITION_FAILED: [412, 'It changed meanwhile'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'Another content type is needed'],
  TOO_MANY_REQUESTS: [429, 'Too much at once'],
};

export interface Trouble {
  readonly code: ProblemCode;
  readonly message: string;
  readonly details?: Record<string, unknown> | undefined;
}

export function toProblem({ code, message, details }: Trouble): Problem {
  const [status, title] = ANSWERS[code];
  const problem: Problem = { type: `urn:toolwright:problem:${code}`, title, status, detail: message, code };
  if (details !== undefined) problem.details = details;
  return problem;
}

export function problemResponse(trouble: Trouble, headers: Record<string, string> = {}): Response {
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
  return problemResponse({ code, message, details });
}
