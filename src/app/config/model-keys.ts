import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, open, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { waitForLock } from '../../storage/sqlite/file-lock.ts';

/** Keys of models, by the origin each is for: `https://api.anthropic.com`. A key goes nowhere else. */
export type ModelKeys = Readonly<Record<string, string>>;

const EXAMPLE = '{ "https://api.anthropic.com": "KEY" }';
const LARGEST_FILE = 100_000;
const LONGEST_WAIT_MS = 5000;

const keysFile = z.record(
  z.string().refine((name) => originOf(name) === name),
  z.string().regex(/^[\x21-\x7e]+$/),
);

/**
 * The file beside the user's own configuration that holds keys. It is not the configuration itself, which people show
 * to others and keep in repositories. No message quotes it.
 */
export async function readModelKeys(path: string): Promise<{ keys: ModelKeys; problems: string[] }> {
  const read = await readPrivate(path);
  if (!read.ok) return { keys: {}, problems: [read.error.message] };
  if (read.value === undefined) return { keys: {}, problems: [] };
  const parsed = keysFile.safeParse(parse(read.value));
  if (parsed.success) return { keys: parsed.data, problems: [] };
  return { keys: {}, problems: [`${path} must hold keys by the origin each is for: ${EXAMPLE}.`] };
}

/** Null takes the key away. Returns the keys as they are now. One after the other: each writes the file whole. */
export async function saveModelKey(path: string, origin: string, key: string | null): Promise<Result<ModelKeys>> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await access(dirname(path), constants.W_OK | constants.X_OK);
    const lock = await waitForLock(`${path}.lock`, LONGEST_WAIT_MS);
    if (lock === undefined) return fail('CONFLICT', `Another process writes ${path}: try again when it is done.`);
    return await writeModelKey(path, origin, key).finally(() => lock.close());
  } catch (error) {
    return fail('NOT_CONFIGURED', `${path} cannot be written (${(error as NodeJS.ErrnoException).code}).`);
  }
}

async function writeModelKey(path: string, origin: string, key: string | null): Promise<Result<ModelKeys>> {
  const { keys, problems } = await readModelKeys(path);
  if (problems.length > 0) return fail('NOT_CONFIGURED', problems.join('\n'));
  const { [origin]: _, ...others } = keys;
  // A key that is replaced keeps its place.
  const now = key === null ? others : { ...keys, [origin]: key };
  const beside = `${path}.${randomBytes(6).toString('hex')}`;
  await writeFile(beside, `${JSON.stringify(now, null, 2)}\n`, { flag: 'wx', mode: 0o600 });
  await rename(beside, path);
  return ok(now);
}

export function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}

/** Undefined when there is none. A file that others could read, or could have written, is refused. */
async function readPrivate(path: string): Promise<Result<string | undefined>> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      const found = await file.stat();
      if (!found.isFile() || found.size > LARGEST_FILE) return fail('NOT_CONFIGURED', `${path} is no plain file.`);
      if (found.uid !== process.getuid?.()) return fail('NOT_CONFIGURED', `${path} holds keys and is somebody else's.`);
      if ((found.mode & 0o077) === 0) return ok(await file.readFile('utf8'));
      return fail('NOT_CONFIGURED', `${path} holds keys, and others can read it: run chmod 600 '${path}'.`);
    } finally {
      await file.close();
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return ok(undefined);
    if (code === 'ELOOP') return fail('NOT_CONFIGURED', `${path} is a symbolic link: put the file itself there.`);
    return fail('NOT_CONFIGURED', `${path} cannot be read (${code}).`);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
