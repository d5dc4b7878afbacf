/**
 * A person's decision about one path of a workspace. `no-secret`: tools and commands use it like any file. `commands`: only commands
 * see it, such as a `.env` that a test needs. `agreed-text`: mode strict runs what this text says, as long as it has this digest.
 */
export type PathDecisionKind = 'no-secret' | 'commands' | 'agreed-text';

export interface PathDecision {
  /** The workspace's root. */
  readonly workspace: string;
  /** Relative to the workspace: a file, or a folder with all in it. */
  readonly path: string;
  readonly kind: PathDecisionKind;
  /** SHA-256 of the text that was agreed to, in hex; null for the other kinds. */
  readonly digest: string | null;
  readonly by: string;
  readonly at: string;
}

/** The decisions that hold now, kept in memory: reading them costs nothing. */
export interface PathDecisions {
  of(workspace: string, path: string): readonly PathDecision[];
  /** Calls back after each decision that was made or taken back. Returns the end of the subscription. */
  onChange(listener: (workspace: string) => void): () => void;
}

export const NO_PATH_DECISIONS: PathDecisions = { of: () => [], onChange: () => () => {} };

/** The kinds by which a path is no secret for whom: for file tools and all, and for commands. */
export const FREE_FOR_TOOLS: ReadonlySet<PathDecisionKind> = new Set(['no-secret']);
export const FREE_FOR_COMMANDS: ReadonlySet<PathDecisionKind> = new Set(['no-secret', 'commands']);
