import { fail, ok, type Result } from '../kernel/result.ts';

/** The root folder by its real path and by the path that the user gave, which may be a symlink. */
export interface RootNames {
  readonly real: string;
  readonly given: string;
}

export const MAX_PATH_BYTES = 4096;
const MAX_NAME_BYTES = 255;

/**
 * Parses a path of a tool into names below the root. Only the text is read: no decoding, no case folding, no `~`. Any
 * `..` is refused, also one that would stay inside, so that no rule has to reason about it.
 */
export function parsePath(given: string, root: RootNames): Result<string[]> {
  if (given === '') return invalid(given, 'A path must not be empty: use . for the workspace itself.');
  if (given.includes('\0')) return invalid(given, 'A path cannot hold the NUL character: remove it.');
  if (/\p{Surrogate}/u.test(given)) return invalid(given, 'The path is not valid Unicode: it holds half a character.');
  if (Buffer.byteLength(given) > MAX_PATH_BYTES)
    return invalid(given, `The path is longer than ${MAX_PATH_BYTES} bytes.`);

  const inside = given.startsWith('/') ? belowRoot(given, root) : given;
  if (inside === undefined) return outsideWorkspace(given);
  const names = namesOf(inside);
  if (names[0] === '~')
    return invalid(given, 'Access denied: ~ is not expanded. Give a path relative to the workspace.');
  if (names.includes('..')) return parentRefused(given, names);
  const long = names.find((name) => Buffer.byteLength(name) > MAX_NAME_BYTES);
  if (long !== undefined)
    return invalid(given, `A name in the path is longer than ${MAX_NAME_BYTES} bytes: shorten it.`);
  return ok(names);
}

/** By whole names: `/w/app-evil` is not below `/w/app`. Undefined when it is not below the root. */
export function belowRoot(absolute: string, root: RootNames): string | undefined {
  for (const top of [root.real, root.given]) {
    if (absolute === top || absolute === `${top}/`) return '.';
    if (absolute.startsWith(top === '/' ? '/' : `${top}/`)) return absolute.slice(top.length);
  }
  return undefined;
}

export function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

export function outsideWorkspace(given: string): Result<never> {
  return invalid(
    given,
    `Access denied: ${shortPath(given)} is outside the workspace. Use a path relative to the workspace root.`,
  );
}

function parentRefused(given: string, names: readonly string[]): Result<never> {
  const plain: string[] = [];
  for (const name of names) {
    if (name !== '..') plain.push(name);
    else if (plain.pop() === undefined) return outsideWorkspace(given);
  }
  const instead = plain.join('/') || '.';
  return invalid(given, `Access denied: '..' is not allowed in a path. Write ${shortPath(instead)} instead.`, {
    instead,
  });
}

function invalid(given: string, message: string, more: Record<string, unknown> = {}): Result<never> {
  return fail('INVALID_PATH', message, { path: shortPath(given), ...more });
}

/** Cuts a long path for messages. */
export function shortPath(path: string): string {
  return path.length <= 200 ? path : `${path.slice(0, 200)}…`;
}
