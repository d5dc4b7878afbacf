import { gitCredentialsIn, isGitConfig } from '../kernel/git-credentials.ts';

/** A password or token in a configuration of git: for a remote, or a header to send it. */
export function holdsGitCredential(path: string, bytes: Buffer): boolean {
  return isGitConfig(path) && gitCredentialsIn(bytes.toString('latin1')).length > 0;
}
