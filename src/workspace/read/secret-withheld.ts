import { readSync } from 'node:fs';
import { holdsGitCredential, isGitConfig } from '../../git/credentials.ts';
import { MAX_WHOLE_BYTES, type OpenFile, readWhole } from '../../host/open-file.ts';
import { shortPath } from '../../host/parse-path.ts';
import { fail, type Result } from '../../kernel/result.ts';
import { howToFree, secretDetails } from '../../kernel/world/decided-files.ts';
import type { Yielder } from '../../kernel/yielding.ts';
import { MAX_KEY_LENGTH } from '../../secrets/content/private-keys.ts';
import { isCounted } from '../../secrets/judge-secret-file.ts';
import { secretIn } from '../../secrets/secret-in-file.ts';
import { secretInOpenFile } from '../../secrets/secret-in-open-file.ts';
import type { WorkspaceRoot } from '../workspace-root.ts';
import type { RawWindow } from './line-window.ts';

/** The refusal of a file whose content is a secret, whatever its name. Undefined when it holds none. */
export function secretWithheld(root: WorkspaceRoot, path: string, bytes: Buffer): Result<never> | undefined {
  if (root.policy.countedSecrets(path) === 'none') return undefined;
  if (holdsGitCredential(path, bytes)) {
    const message = `${shortPath(path)} holds a credential, such as a password in the address of a remote: tools cannot use it. Ask for single settings with git config --get. ${howToFree(root.policy, path)}`;
    return fail('PERMISSION_DENIED', message, { ...secretDetails(root.policy, path) });
  }
  return withheld(root, path, secretIn(path, bytes)?.name);
}

/** The same of an open file, however large. */
export async function openWithheld(
  root: WorkspaceRoot,
  path: string,
  { file, yielder }: { readonly file: OpenFile; readonly yielder: Yielder },
): Promise<Result<never> | undefined> {
  if (isGitConfig(path)) return secretWithheld(root, path, readWhole(file, MAX_WHOLE_BYTES));
  if (root.policy.countedSecrets(path) === 'none') return undefined;
  const secret = await secretInOpenFile({ fd: file.fd, size: file.stat.size, path }, yielder);
  return withheld(root, path, secret ?? undefined);
}

/** The same of a window of a large file: a secret counts of which a part stands in the window. */
export function windowWithheld(
  root: WorkspaceRoot,
  path: string,
  { fd, raw }: { fd: number; raw: RawWindow },
): Result<never> | undefined {
  if (root.policy.countedSecrets(path) === 'none') return undefined;
  const before = bytesAt(fd, Math.max(0, raw.start - MAX_KEY_LENGTH), Math.min(raw.start, MAX_KEY_LENGTH));
  const shown = Buffer.concat(raw.lines.map(({ bytes }) => bytes));
  const after = bytesAt(fd, raw.end, MAX_KEY_LENGTH);
  const window = { from: before.length, to: before.length + shown.length };
  return withheld(root, path, secretIn(path, Buffer.concat([before, shown, after]), window)?.name);
}

function withheld({ policy }: WorkspaceRoot, path: string, secret: string | undefined): Result<never> | undefined {
  if (!isCounted(secret, policy.countedSecrets(path))) return undefined;
  const short = shortPath(path);
  const what = `${/^[aeioA]/.test(secret) ? 'an' : 'a'} ${secret}`;
  const message = `${short} holds ${what}: tools cannot use it. ${howToFree(policy, path)}`;
  return fail('PERMISSION_DENIED', message, { ...secretDetails(policy, path) });
}

function bytesAt(fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, length === 0 ? 0 : readSync(fd, bytes, 0, length, position));
}
