import { readFileSync } from 'node:fs';
import { fail, ok, type Result } from '../kernel/result.ts';
import type { Limits, RunRequest } from '../kernel/world/sandbox.ts';

/** Below these the sandbox itself could not start the command. */
const MIN_LIMITS: Partial<Limits> = {
  memoryBytes: 16 * 1024 * 1024,
  processes: 1,
  fileBytes: 64 * 1024,
  tmpBytes: 4096,
  openFiles: 32,
};
/** The kernel numbers no more processes than this. */
const MAX_LIMITS: Partial<Limits> = { processes: 4_000_000 };
/** The longest argument or variable that Linux accepts, and less than it accepts of both together. */
const MAX_WORD_BYTES = 128 * 1024 - 1;
const MAX_TOTAL_BYTES = 1024 * 1024;
/** Each variable takes three arguments of bubblewrap, which accepts nine thousand. */
const MAX_VARIABLES = 2_000;

/** Refuses requests that the kernel or bubblewrap would refuse, before anything is started. */
export function checkSize(request: RunRequest, limits: Limits): Result<null> {
  for (const [name, value] of Object.entries(limits)) {
    const least = MIN_LIMITS[name as keyof Limits] ?? 0;
    const most = MAX_LIMITS[name as keyof Limits] ?? Number.MAX_SAFE_INTEGER;
    if (value < least || value > most) {
      return fail('INVALID_INPUT', `The limit ${name} must be from ${least} to ${most}, got ${value}.`);
    }
  }
  const variables = Object.entries(request.env ?? {}).map(([name, value]) => `${name}=${value}`);
  if (variables.length > MAX_VARIABLES) {
    return fail(
      'INVALID_INPUT',
      `${variables.length} environment variables are too many: give at most ${MAX_VARIABLES}.`,
    );
  }
  const words = [...('script' in request.command ? (request.command.args ?? []) : request.command), ...variables];
  const sizes = words.map((word) => Buffer.byteLength(word));
  if (sizes.some((size) => size > MAX_WORD_BYTES) || sizes.reduce((sum, size) => sum + size + 9, 0) > MAX_TOTAL_BYTES) {
    return fail(
      'INVALID_INPUT',
      'The arguments and the environment are too long: pass long text as input or in a file.',
    );
  }
  return ok(null);
}

/** Returns a limit as a shell can set it: a whole number, not above the hard limit of this process, or a part of that. */
export function withinHardLimit(value: number, name: string, unitBytes = 1, part = 1): string {
  const own = hardLimit(name);
  const hard = own === null ? null : own * part;
  const units = Math.ceil(value / unitBytes);
  return String(BigInt(hard === null ? units : Math.min(units, Math.floor(hard / unitBytes))));
}

let ownLimits: string[] | undefined;

/** Null when there is none. */
function hardLimit(name: string): number | null {
  // Read once: they do not change while this process runs, and each run would read them five times.
  ownLimits ??= (process.platform === 'linux' ? readFileSync('/proc/self/limits', 'latin1') : '').split('\n');
  const line = ownLimits.find((each) => each.startsWith(`${name} `));
  const hard = line?.slice(name.length).trim().split(/\s+/)[1];
  return hard === undefined || hard === 'unlimited' ? null : Number(hard);
}
