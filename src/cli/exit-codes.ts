import { type ErrorCode, type Failure, knownCode } from '../kernel/error.ts';

/** Exit codes that scripts may rely on. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  denied: 3,
  configuration: 4,
  /** No model, or it did not answer. */
  provider: 5,
  timeout: 124,
  interrupted: 130,
} as const;

const BY_CODE: Record<ErrorCode, number> = {
  INVALID_INPUT: EXIT.usage,
  UNKNOWN_TOOL: EXIT.usage,
  TOOL_DISABLED: EXIT.denied,
  INVALID_PATH: EXIT.failed,
  FILE_NOT_FOUND: EXIT.failed,
  PERMISSION_DENIED: EXIT.denied,
  CONFLICT: EXIT.failed,
  TOO_LARGE: EXIT.failed,
  APPROVAL_DENIED: EXIT.denied,
  APPROVAL_EXPIRED: EXIT.denied,
  TIMEOUT: EXIT.timeout,
  CANCELLED: EXIT.interrupted,
  EXECUTION_ERROR: EXIT.failed,
  NETWORK_ERROR: EXIT.failed,
  NOT_CONFIGURED: EXIT.configuration,
  SANDBOX_UNAVAILABLE: EXIT.configuration,
  INTERNAL: EXIT.failed,
};

/** Of a program that a signal ended, the exit code is the one that shells report. */
export function exitCodeOf({ code, details }: Pick<Failure, 'code' | 'details'>): number {
  const { signal, exitCode, endedBy } = details ?? {};
  const isSignal = code === 'EXECUTION_ERROR' && typeof signal === 'string' && endedBy === null;
  return isSignal && typeof exitCode === 'number' ? exitCode : BY_CODE[knownCode(code)];
}
