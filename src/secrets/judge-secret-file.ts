import { holdsGitCredential } from '../git/credentials.ts';
import type { FilePolicy } from '../kernel/world/file-policy.ts';
import { PRIVATE_KEY } from './find-secrets.ts';
import { isPublicContent } from './public-content.ts';
import { secretIn } from './secret-in-file.ts';

/**
 * Returns the kind of secret for which a file is kept from tools and commands, as in "It holds a GitHub token", by its content and
 * its name. Null for an ordinary file.
 */
export function judgeSecretFile(policy: FilePolicy, path: string, bytes: Buffer): string | null {
  const { access, rule } = policy.judge(path, 'file');
  if (access === 'hidden' && !(rule?.unless === 'public content' && isPublicContent(bytes)))
    return rule?.reason ?? 'secret';
  if (holdsGitCredential(path, bytes)) return 'credential of git';
  const secret = secretIn(path, bytes)?.name;
  if (secret === undefined) return null;
  return secret === PRIVATE_KEY || !policy.isNoSecret(path) ? secret : null;
}
