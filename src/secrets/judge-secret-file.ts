import { holdsGitCredential } from '../git/credentials.ts';
import type { CountedSecrets, FilePolicy } from '../kernel/world/file-policy.ts';
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
  const counted = policy.countedSecrets(path);
  if (counted === 'none') return null;
  if (holdsGitCredential(path, bytes)) return 'credential of git';
  const secret = secretIn(path, bytes)?.name;
  return isCounted(secret, counted) ? secret : null;
}

/** Whether a secret that a file holds is to be kept from tools. */
export function isCounted(secret: string | undefined, counted: CountedSecrets): secret is string {
  if (secret === undefined || counted === 'none') return false;
  return counted === 'all' || secret === PRIVATE_KEY;
}
