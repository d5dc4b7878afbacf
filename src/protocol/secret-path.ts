import type { SecretDetails } from '../kernel/world/decided-files.ts';

/** Why a path was refused as a secret, and which: a person may free a `secret`, a `configured-secret` the user's configuration keeps. */
export type SecretPath = SecretDetails;

/** Returns the path that a failure with these details refused as a secret; null for any other failure. */
export function secretPathOf(details: Readonly<Record<string, unknown>> | undefined): SecretPath | null {
  const { reason, path } = details ?? {};
  if (typeof path !== 'string' || (reason !== 'secret' && reason !== 'configured-secret')) return null;
  return { reason, path };
}
