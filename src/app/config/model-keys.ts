import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, open, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { errnoOf } from '../../host/errno.ts';
import { makePrivateFolder } from '../../host/private-folder.ts';
import { messageOf } from '../../kernel/error.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { waitForLock } from '../../storage/sqlite/file-lock.ts';

/** Model keys by origin, such as `https://api.anthropic.com`. A key is sent nowhere else. */
export type ModelKeys = Readonly<Record<string, string>>;

const EXAMPLE = '{ "https://api.anthropic.com": "KEY" }';
const MAX_FILE_BYTES = 100_000;
const MAX_WAIT_MS = 5000;

const keysFile = z.record(
  z.string().refine((name) => originOf(name) === name),
  z.string().regex(/^[\x21-\x7e]+$/),
);

/**
 * Reads the key file beside the user's configuration. Keys are not in the configuration itself, which people share and
 * commit. No message quotes the file.
 */
export async function readModelKeys(path: string): Promise<{ keys: ModelKeys; problems: string[] }> {
  const read = await readPrivate(path);
  if (!read.ok) return { keys: {}, problems: [read.error.message] };
  if (read.value === undefined) return { keys: {}, problems: [] };
  const parsed = keysFile.safeParse(parse(read.value));
  if (parsed.success) return { keys: parsed.data, problems: [] };
  return { keys: {}, problems: [`${path} must hold keys by the origin each is for: ${EXAMPLE}.`] };
}

/**
 * Saves a key, or removes it for null, and returns all keys. A lock orders writers, because each writes the whole file.
 */
export async function saveModelKey(path: string, origin: string, key: string | null): Promise<Result<ModelKeys>> {
  try {
    makePrivateFolder(dirname(path));
    await access(dirname(path), constants.W_OK | constants.X_OK);
    const lock = await waitForLock(`${path}.lock`, MAX_WAIT_MS);
    if (lock === undefined) return fail('CONFLICT', `Another process is writing ${path}: try again when it is done.`);
    return await writeModelKey(path, origin, key).finally(() => lock.close());
  } catch (error) {
    return fail('NOT_CONFIGURED', `${path} cannot be written (${errnoOf(error) ?? messageOf(error)}).`);
  }
}

async function writeModelKey(path: string, origin: string, key: string | null): Promise<Result<ModelKeys>> {
  const { keys, problems } = await readModelKeys(path);
  if (problems.length > 0) return fail('NOT_CONFIGURED', problems.join('\n'));
  const { [origin]: _, ...others } = keys;
  // A replaced key keeps its position.
  const now = key === null ? others : { ...keys, [origin]: key };
  const beside = `${path}.${randomBytes(6).toString('hex')}`;
  await writeFile(beside, `${JSON.stringify(now, null, 2)}\n`, { flag: 'wx', mode: 0o600 });
  await rename(beside, path);
  return ok(now);
}

export function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}

/** Returns undefined for a missing file. Refuses a file that other users can read or may have written. */
async function readPrivate(path: string): Promise<Result<string | undefined>> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      const found = await file.stat();
      if (!found.isFile() || found.size > MAX_FILE_BYTES)
        return fail('NOT_CONFIGURED', `${path} is not a regular file.`);
      if (found.uid !== process.getuid?.())
        return fail('NOT_CONFIGURED', `${path} holds keys and belongs to another user.`);
      if ((found.mode & 0o077) === 0) return ok(await file.readFile('utf8'));
      return fail('NOT_CONFIGURED', `${path} holds keys, and others can read it: run chmod 600 '${path}'.`);
    } finally {
      await file.close();
    }
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return ok(undefined);
    if (errno === 'ELOOP') return fail('NOT_CONFIGURED', `${path} is a symlink: put the file itself there.`);
    return fail('NOT_CONFIGURED', `${path} cannot be read (${errno}).`);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
