import { decidedPolicies } from '../kernel/world/decided-files.ts';
import { createFilePolicy, type FilePolicy } from '../kernel/world/file-policy.ts';
import type { PathDecisions } from '../kernel/world/path-decisions.ts';
import { deniedReading } from '../policy/rules/denied-reading.ts';
import { parseRule } from '../policy/rules/parse-rules.ts';
import type { ToolRegistry } from '../runtime/registry/registry.ts';
import { knownTools } from './admin/known-tools.ts';
import type { Config } from './config/settings.ts';

export interface PolicedWorkspace {
  readonly workspace: string;
  /** Says which of the tools that rules name read files. */
  readonly registry: ToolRegistry;
  readonly decisions: PathDecisions;
}

/** Returns the file policy by names alone, and with what people freed for tools and for commands. */
export function filePoliciesOf(config: Config, { workspace, registry, decisions }: PolicedWorkspace) {
  const named = filePolicyOf(config, registry);
  return { named, ...decidedPolicies(named, { workspace, decisions }) };
}

/** A pattern with `!` is removed from the built-in list. A path that a rule keeps from a tool that reads is kept from all. */
function filePolicyOf({ sensitiveFiles, deny }: Config, registry: ToolRegistry): FilePolicy {
  const isLifted = (pattern: string) => pattern.startsWith('!');
  const hidden = sensitiveFiles.filter((pattern) => !isLifted(pattern));
  // A rule that cannot be used is reported where the policy is made.
  const rules = deny.map((rule) =>
    parseRule(
      rule,
      'deny',
      knownTools([registry], () => true),
    ),
  );
  return createFilePolicy(
    [
      ...hidden.map((pattern) => ({ pattern, access: 'hidden', reason: 'the configuration says so' }) as const),
      ...deniedReading(rules.flatMap((rule) => (rule.ok ? [rule.value] : []))),
    ],
    sensitiveFiles.filter(isLifted).map((pattern) => pattern.slice(1)),
  );
}
