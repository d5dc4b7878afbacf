import { quoteForShell } from '../text/escape.ts';
import type { FilePolicy } from './file-policy.ts';
import { FREE_FOR_COMMANDS, FREE_FOR_TOOLS, type PathDecisionKind, type PathDecisions } from './path-decisions.ts';
import { OWN_FILES } from './sensitive-files.ts';

interface DecidedBy {
  readonly workspace: string;
  readonly decisions: PathDecisions;
  /** The kinds that free a path. */
  readonly kinds: ReadonlySet<PathDecisionKind>;
}

/**
 * The policy with the decisions of people on top: a free path is judged without the built-in list of secrets, and no secret
 * counts in it. The user's own rules and those for protected files hold as before.
 */
function withDecisions(policy: FilePolicy, { workspace, decisions, kinds }: DecidedBy): FilePolicy {
  const isFree = (path: string) => decisions.of(workspace, path).some(({ kind }) => kinds.has(kind));
  return {
    ...policy,
    judge(path, kind) {
      const verdict = policy.judge(path, kind);
      return verdict.access === 'hidden' && isFree(path) ? policy.besideSecrets.judge(path, kind) : verdict;
    },
    judgeEntry(folder, name, kind) {
      const verdict = policy.judgeEntry(folder, name, kind);
      const isLifted = verdict.access === 'hidden' && isFree(folder === '' ? name : `${folder}/${name}`);
      return isLifted ? policy.besideSecrets.judgeEntry(folder, name, kind) : verdict;
    },
    countedSecrets: (path) => (isFree(path) ? 'none' : policy.countedSecrets(path)),
  };
}

/** The policy with what people freed: for tools, and for commands. Both go into the options of a policy as they are. */
export function decidedPolicies(
  policy: FilePolicy,
  by: Omit<DecidedBy, 'kinds'>,
): { readonly files: FilePolicy; readonly commandFiles: FilePolicy } {
  return {
    files: withDecisions(policy, { ...by, kinds: FREE_FOR_TOOLS }),
    commandFiles: withDecisions(policy, { ...by, kinds: FREE_FOR_COMMANDS }),
  };
}

/** Whether the path is Toolwright's own, which no decision frees. */
export function isOwnFile(policy: FilePolicy, path: string): boolean {
  const { rule } = policy.judge(path);
  return rule !== null && OWN_FILES.includes(rule);
}

/** Whether the user's own configuration keeps the path from tools, which no decision lifts. */
export function isUsersOwnRule(policy: FilePolicy, path: string): boolean {
  return policy.besideSecrets.judge(path).access === 'hidden';
}

/** The details of a refusal because of a secret. Doors go by them, and not by the sentence, to offer a person what may be decided. */
export interface SecretDetails {
  /** A person may free a `secret`; a `configured-secret` is kept by the user's own configuration. */
  readonly reason: 'secret' | 'configured-secret';
  /** Relative to the workspace, and whole: a decision about it needs that. */
  readonly path: string;
}

export function secretDetails(policy: FilePolicy, path: string): SecretDetails {
  return { reason: isUsersOwnRule(policy, path) ? 'configured-secret' : 'secret', path };
}

/** The sentence of a refusal that names how a person frees a path. */
export function howToFree(policy: FilePolicy, path: string): string {
  if (isUsersOwnRule(policy, path)) return 'A user can change that in the configuration (sensitiveFiles, deny).';
  const named = PLAIN.test(path) ? path : quoteForShell(path);
  return `A person may free it, on the page or with toolwright paths no-secret ${named} (for commands alone: paths free).`;
}

const PLAIN = /^[\w./@%+=,][\w./@%+=,-]*$/;
