import { readFileSync } from 'node:fs';
import { fail, ok, type Result } from '../kernel/result.ts';
import type { Limits, RunRequest } from '../kernel/world/sandbox.ts';

/** Below these the sandbox itself could not start the command. */
const LEAST: Partial<Limits> = {
  memoryBytes: 16 * 1024 * 1024,
  processes: 1,
  fileBytes: 64 * 1024,
  tmpBytes: 4096,
  openFiles: 32,
};
/** The kernel numbers no more processes than this. */
const MOST: Partial<Limits> = { processes: 4_000_000 };
/** What Linux takes as one argument or variable, and less than it takes of both together. */
const LONGEST_WORD = 128 * 1024 - 1;
const ALL_WORDS = 1024 * 1024;
/** Each takes three arguments of bubblewrap, which has room for nine thousand. */
const MOST_VARIABLES = 2_000;

/** Refuses what the kernel or bubblewrap would, before anything is started. */
export function checkSize(request: RunRequest, limits: Limits): Result<null> {
  for (const [name, value] of Object.entries(limits)) {
    const least = LEAST[name as keyof Limits] ?? 0;
    const most = MOST[name as keyof Limits] ?? Number.MAX_SAFE_INTEGER;
    if (value < least || value > most) {
      return fail('INVALID_INPUT', `The limit ${name} must be from ${least} to ${most}, got ${value}.`);
    }
  }
  const variables = Object.entries(request.env ?? {}).map(([name, value]) => `${name}=${value}`);
  if (variables.length > MOST_VARIABLES) {
    return fail(
      'INVALID_INPUT',
      `${variables.length} environment variables are too many: give at most ${MOST_VARIABLES}.`,
    );
  }
  const words = [...('script' in request.command ? [] : request.command), ...variables];
  const sizes = words.map((word) => Buffer.byteLength(word));
  if (sizes.some((size) => size > LONGEST_WORD) || sizes.reduce((sum, size) => sum + size + 9, 0) > ALL_WORDS) {
    return fail(
      'INVALID_INPUT',
      'The arguments and the environment are too long: pass long text as input or in a file.',
    );
  }
  return ok(null);
}

/** A limit as a shell can set it: whole, and not above what our own process is held to, or a part of that. */
export function withinHardLimit(value: number, name: string, unitBytes = 1, part = 1): string {
  const own = hardLimit(name);
  const hard = own === null ? null : own * part;
  const units = Math.ceil(value / unitBytes);
  return String(BigInt(hard === null ? units : Math.min(units, Math.floor(hard / unitBytes))));
}

let ownLimits: string[] | undefined;

/** Null when there is none. */
function hardLimit(name: string): number | null {
  // Once: whoever started us sets them, and each run would ask five times.
  ownLimits ??= (process.platform === 'linux' ? readFileSync('/proc/self/limits', 'latin1') : '').split('\n');
  const line = ownLimits.find((each) => each.startsWith(`${name} `));
  const hard = line?.slice(name.length).trim().split(/\s+/)[1];
  return hard === undefined || hard === 'unlimited' ? null : Number(hard);
}
