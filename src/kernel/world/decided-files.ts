import type { FilePolicy } from './file-policy.ts';
import type { PathDecisionKind, PathDecisions } from './path-decisions.ts';

export interface DecidedBy {
  readonly workspace: string;
  readonly decisions: PathDecisions;
  /** The kinds that free a path. */
  readonly kinds: ReadonlySet<PathDecisionKind>;
}

/**
 * The policy with the decisions of people on top: a free path is judged without the built-in list of secrets, and no secret
 * counts in it. The user's own rules and those for protected files hold as before.
 */
export function withDecisions(policy: FilePolicy, { workspace, decisions, kinds }: DecidedBy): FilePolicy {
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
