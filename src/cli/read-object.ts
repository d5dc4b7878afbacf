import { isPlainObject } from '../kernel/tool/check-arguments.ts';
import { fail, ok, type Result } from '../kernel/result.ts';

/** A JSON object that a person typed; `message` says what was wanted. */
export function readObject(text: string, message: string): Result<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (isPlainObject(value)) return ok(value);
  } catch {
    // Said below.
  }
  return fail('INVALID_INPUT', message);
}
