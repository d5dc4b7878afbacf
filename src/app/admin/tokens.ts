import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { type Credential, type Credentials, hashToken } from '../../http/credentials.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { role } from '../../protocol/health.ts';
import { waitForLock } from '../../storage/sqlite/file-lock.ts';

const POLL_MS = 250;
const MAX_WAIT_MS = 10_000;
/** Tokens are trusted for this time without reading the files, which would take a good part of each request. */
const TRUSTED_MS = 50;
const OWNER: Credential = { name: 'owner', role: 'admin', sessions: null };

const userToken = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'A name has letters, digits, dots, dashes and underscores.')
    // Answers are recorded under this name, so no other token may have the owner's.
    .refine((name) => name.toLowerCase() !== OWNER.name, 'The name owner is taken: choose another.'),
  role,
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  sessions: z.array(z.string()).nullable().default(null),
});
const userTokens = z.array(userToken);
type UserToken = z.output<typeof userToken>;
type NewToken = Pick<UserToken, 'name' | 'role' | 'sessions'>;

export interface Tokens extends Credentials {
  /** The token of the owner, who started the server. */
  readonly own: string;
  /** True when a person has a token of their own, which listening beyond loopback requires. */
  readonly hasUsers: boolean;
}

/**
 * Opens the tokens of a state directory: `token` is the owner's, created on first use; `tokens.json` holds those of
 * other people as hashes. Only the owner can read both. A token that is added, or changed by this process, counts at
 * once; one that another process revokes is refused after at most 50 ms.
 */
export function openTokens(stateDir: string): Result<Tokens> {
  const path = join(stateDir, 'token');
  const usersPath = join(stateDir, 'tokens.json');
  const first = readOwn(path) ?? createOwn(path);
  if (first === undefined)
    return fail('PERMISSION_DENIED', `${path} is not a plain file of this user. Look at it, then remove it.`);
  const read = readUsers(usersPath);
  if (!read.ok) return read;
  let own = first;
  let ownHash = hashToken(own);
  let ownStamp = stampOf(path);
  let users = read.value;
  let lookedAt = Number.NEGATIVE_INFINITY;
  const revoked = new Set<(tokenHash: string) => void>();

  /** Runs also on a timer: a client that reads a stream sends no further request. */
  function refresh(): void {
    lookedAt = performance.now();
    if (stampOf(path) !== ownStamp) takeOwn(readOwn(path) ?? own);
    if (stampOf(usersPath) === users.stamp) return;
    const now = readUsers(usersPath, users.stamp);
    if (!now.ok) return;
    const before = users;
    users = now.value;
    for (const [hash, who] of before.byHash) if (!isDeepStrictEqual(users.byHash.get(hash), who)) tellRevoked(hash);
  }

  function holderOf(tokenHash: string): Credential | undefined {
    return tokenHash === ownHash ? OWNER : users.byHash.get(tokenHash);
  }

  function takeOwn(token: string): void {
    const before = own;
    own = token;
    ownHash = hashToken(own);
    ownStamp = stampOf(path);
    if (before !== own) tellRevoked(hashToken(before));
  }

  function tellRevoked(hash: string): void {
    for (const tell of revoked) tell(hash);
  }

  return ok({
    get own() {
      return own;
    },
    get hasUsers() {
      return users.byHash.size > 0;
    },
    find(tokenHash) {
      const known = performance.now() - lookedAt < TRUSTED_MS ? holderOf(tokenHash) : undefined;
      if (known !== undefined) return known;
      refresh();
      return holderOf(tokenHash);
    },
    async rotate() {
      const token = newToken();
      replaceOwn(path, token);
      takeOwn(token);
      return token;
    },
    onRevoked(listener) {
      revoked.add(listener);
      const looking = setInterval(refresh, POLL_MS).unref();
      return () => {
        revoked.delete(listener);
        clearInterval(looking);
      };
    },
  });
}

/** The people who have a token, in the order in which they got it. */
export function listTokens(stateDir: string): Result<readonly NewToken[]> {
  const read = readUsers(join(stateDir, 'tokens.json'));
  return read.ok ? ok(read.value.list.map(({ name, role, sessions }) => ({ name, role, sessions }))) : read;
}

/** Takes a person's token back: running servers refuse it at once and end its streams. */
export function revokeToken(stateDir: string, name: string): Promise<Result<void>> {
  return alone(stateDir, (path) => {
    const read = readUsers(path);
    if (!read.ok) return read;
    const left = read.value.list.filter((user) => user.name !== name);
    if (left.length === read.value.list.length)
      return fail('FILE_NOT_FOUND', `There is no token for ${name}; toolwright token list shows all.`);
    replaceOwn(path, `${JSON.stringify(left, null, 2)}\n`);
    return ok(undefined);
  });
}

/** Creates a token for a person and stores its hash. Only the result holds the token itself. */
export function addToken(stateDir: string, user: NewToken): Promise<Result<string>> {
  return alone(stateDir, (path) => writeToken(path, user));
}

/** Changes the file of tokens while no other process does. */
async function alone<T>(stateDir: string, change: (path: string) => Result<T>): Promise<Result<T>> {
  const path = join(stateDir, 'tokens.json');
  const lock = await waitForLock(`${path}.lock`, MAX_WAIT_MS);
  if (lock === undefined) return fail('CONFLICT', `Another process is writing ${path}: try again when it is done.`);
  try {
    return change(path);
  } finally {
    lock.close();
  }
}

function writeToken(path: string, user: NewToken): Result<string> {
  const read = readUsers(path);
  if (!read.ok) return read;
  const known = read.value.list;
  if (known.some(({ name }) => name === user.name))
    return fail('CONFLICT', `There is a token for ${user.name} already.`);
  const token = newToken();
  const checked = userToken.safeParse({ ...user, sha256: hashToken(token) });
  if (!checked.success) return fail('INVALID_INPUT', checked.error.issues[0]?.message ?? 'That is no token.');
  replaceOwn(path, `${JSON.stringify([...known, checked.data], null, 2)}\n`);
  return ok(token);
}

/** 256 bits cannot be guessed. */
function newToken(): string {
  return randomBytes(32).toString('base64url');
}

function readOwn(path: string): string | undefined {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      const found = fstatSync(file);
      if (!found.isFile() || found.uid !== process.getuid?.()) return undefined;
      const token = readFileSync(file, 'utf8').trim();
      if (token.length < 32) return undefined;
      if ((found.mode & 0o077) !== 0) chmodSync(path, 0o600);
      return token;
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}

function createOwn(path: string): string | undefined {
  try {
    const token = newToken();
    writeNew(path, token);
    return token;
  } catch {
    // Another process was first, or the file belongs to another user.
    return readOwn(path);
  }
}

function writeNew(path: string, text: string): void {
  const file = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
  try {
    writeSync(file, text);
  } finally {
    closeSync(file);
  }
}

function replaceOwn(path: string, text: string): void {
  const beside = `${path}.${randomBytes(6).toString('hex')}`;
  writeNew(beside, text);
  renameSync(beside, path);
}

interface UserTokens {
  readonly stamp: string;
  readonly list: readonly UserToken[];
  readonly byHash: ReadonlyMap<string, Credential>;
}

function readUsers(path: string, known?: string): Result<UserTokens> {
  const stamp = stampOf(path);
  if (stamp === '') return ok({ stamp, list: [], byHash: new Map() });
  try {
    const list = userTokens.parse(JSON.parse(readFileSync(path, 'utf8')));
    const byHash = new Map(list.map(({ sha256, name, role, sessions }) => [sha256, { name, role, sessions }]));
    return ok({ stamp, list, byHash });
  } catch {
    const next = known === undefined ? 'Correct or remove it.' : 'The previous tokens stay valid.';
    return fail('NOT_CONFIGURED', `${path} is not a list of tokens. ${next}`);
  }
}

function stampOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.ino}:${found.mtimeMs}:${found.size}`;
}
