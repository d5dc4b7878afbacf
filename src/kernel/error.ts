/**
 * Every way a call can fail. The list is closed: a new code is added only where a caller would act differently, and each
 * door's `Record<ErrorCode, …>` stops compiling until it answers the new one.
 */
export const ERROR_CODES = [
  'INVALID_INPUT',
  'UNKNOWN_TOOL',
  'TOOL_DISABLED',
  'INVALID_PATH',
  'FILE_NOT_FOUND',
  'PERMISSION_DENIED',
  'CONFLICT',
  'TOO_LARGE',
  'APPROVAL_DENIED',
  'APPROVAL_EXPIRED',
  'TIMEOUT',
  'CANCELLED',
  'EXECUTION_ERROR',
  'NETWORK_ERROR',
  'NOT_CONFIGURED',
  'SANDBOX_UNAVAILABLE',
  'INTERNAL',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** A code that a tool made up, such as QUOTA_EXCEEDED. It reaches every caller as it is, and doors treat it as EXECUTION_ERROR. */
export type OwnErrorCode = string & Record<never, never>;

/** JSON, small, without stacks or secrets. */
export type Details = Record<string, unknown>;

/** A failure as plain data: what tools return and what goes over every wire. */
export interface Failure {
  code: ErrorCode | OwnErrorCode;
  /** For the person or model that must act: what happened and what to do next. */
  message: string;
  details?: Details;
}

/** The same failure as an Error, with the tool's name, as the library returns and throws it. */
export class ToolError extends Error implements Failure {
  readonly toolName: string;
  readonly code: Failure['code'];
  readonly details?: Details;

  constructor(
    toolName: string,
    message: string,
    more: { code?: Failure['code']; details?: Details; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = 'ToolError';
    this.toolName = toolName;
    this.code = more.code ?? 'EXECUTION_ERROR';
    if (more.details !== undefined) this.details = more.details;
  }

  override toString(): string {
    return `Tool '${this.toolName}' error: ${this.message}`;
  }

  /** An Error loses its message in JSON.stringify otherwise. */
  toJSON(): Failure & { toolName: string } {
    const { code, message, details, toolName } = this;
    return details === undefined ? { code, message, toolName } : { code, message, details, toolName };
  }
}

/** Returns the message of anything thrown, also when it is not an Error, is `undefined`, or throws when it is read. */
export function messageOf(thrown: unknown): string {
  try {
    const message = (thrown as { message?: unknown } | null | undefined)?.message;
    if (typeof message === 'string' && message !== '') return message;
    if (thrown instanceof Error) return thrown.name;
    if (typeof thrown === 'string' && thrown !== '') return thrown;
    const json = JSON.stringify(thrown);
    if (json !== undefined) return `threw ${json}`;
  } catch {
    // It cannot be read: only its type can be told.
  }
  return `threw ${thrown === undefined ? 'undefined' : `a ${typeof thrown}`}`;
}

/** Returns the code by which a door decides: EXECUTION_ERROR in place of a code that a tool made up. */
export function knownCode(code: Failure['code']): ErrorCode {
  return isKnown(code) ? code : 'EXECUTION_ERROR';
}

function isKnown(code: string): code is ErrorCode {
  return (ERROR_CODES as readonly string[]).includes(code);
}

/** Shapes of codes that are passed on; anything else that a tool calls a code goes into the details. */
const CODE = /^[\w.:-]{1,100}$/;

/** Turns any error of a tool into a failure that can be passed on. Details that are not JSON are left out. */
export function toFailure(error: unknown): Failure {
  const { code, message, details } = (error ?? {}) as Partial<Record<keyof Failure, unknown>>;
  const text = typeof message === 'string' ? message : messageOf(error);
  const kept = jsonObject(details);
  if (typeof code === 'string' && CODE.test(code))
    return kept === undefined ? { code, message: text } : { code, message: text, details: kept };
  return {
    code: 'EXECUTION_ERROR',
    message: text,
    details: typeof code === 'string' ? { ...kept, code } : { ...kept },
  };
}

function jsonObject(value: unknown): Details | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  try {
    JSON.stringify(value);
    return value as Details;
  } catch {
    return undefined;
  }
}
