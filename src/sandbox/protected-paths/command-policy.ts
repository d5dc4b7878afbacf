import { decidedPolicies } from '../../kernel/world/decided-files.ts';
import type { FilePolicy } from '../../kernel/world/file-policy.ts';
import { NO_PATH_DECISIONS } from '../../kernel/world/path-decisions.ts';
import type { IsolationOptions } from '../isolation-options.ts';

/** The file policy for commands in one workspace, with what people have freed for them by now. */
export function commandPolicy(
  { filePolicy, decisions = NO_PATH_DECISIONS }: Pick<IsolationOptions, 'filePolicy' | 'decisions'>,
  workspace: string,
): FilePolicy {
  return decidedPolicies(filePolicy, { workspace, decisions }).commandFiles;
}
