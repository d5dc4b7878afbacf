/**
 * The tables, as Kysely sees them. Text and integers only: JSON is text, times are wall-clock milliseconds, booleans
 * are 1 and 0, so that both databases hold the same values.
 */
export interface Tables {
  sessions: SessionTable;
  /** The description given when a session was created. */
  session_info: SessionInfoTable;
  /** Sessions held by a process. A hold is valid while the process lives in this epoch. */
  session_holds: { session: string; node: string; node_epoch: number };
  /** One row: the last position taken and the number of pruned events. Its lock orders the writers of all processes. */
  log_head: { id: number; pos: number; pruned: number };
  events: EventTable;
  calls: CallTable;
  approvals: ApprovalTable;
  rules: RuleTable;
  path_decisions: PathDecisionTable;
  tool_states: { tool: string; enabled: number; changed_at: number };
  nodes: NodeTable;
  schema_version: { version: number };
  /** The start of the clock since the last boot, so that all processes of the machine read the same time. */
  store_clock: { boot_id: string; wall_ms: number; uptime_ms: number };
  /** Used only where several machines share the store; otherwise blobs are files. */
  blobs: { hash: string; bytes: Uint8Array; size: number; put_at: number };
}

export interface SessionTable {
  id: string;
  created_at: number;
  updated_at: number;
  last_seq: number;
  last_hash: string;
  /** The last pruned event and its hash, from which the chain continues. */
  pruned_seq: number;
  pruned_hash: string;
}

export interface SessionInfoTable {
  id: string;
  workspace: string;
  title: string | null;
  agent: string | null;
}

export interface EventTable {
  pos: number;
  session: string;
  seq: number;
  type: string;
  version: number;
  call_id: string | null;
  at: number;
  /** The payload, or null when it is in the blob. */
  data: string | null;
  blob: string | null;
  hash: string;
}

/** A call with the payload of the event that ended it, if there is one. */
export type CallWithEnd = CallTable & { ended_data?: string | null; ended_blob?: string | null };

/** A call with the people who approved and denied it. */
export type AnsweredCall = CallWithEnd & { readonly approved_by: string | null; readonly denied_by: string | null };

export interface CallTable {
  id: string;
  /** The position of the requesting event: it orders calls and is the cursor of pages. */
  pos: number;
  session: string;
  first_seq: number;
  agent: string | null;
  tool: string;
  key: string | null;
  digest: string | null;
  effect: string;
  state: string;
  args: string | null;
  args_blob: string | null;
  /** Null where the event that ended the call holds it; calls of older versions have it here. */
  outcome: string | null;
  outcome_blob: string | null;
  artifact: string | null;
  requested_at: number;
  started_at: number | null;
  finished_at: number | null;
  duration_us: number | null;
  attempt: number;
  node: string | null;
  node_epoch: number | null;
}

export interface ApprovalTable {
  id: string;
  call_id: string;
  session: string;
  tool: string;
  args: string | null;
  args_blob: string | null;
  reason: string;
  digest: string;
  /** The payload of the requesting event, or null when it is in `args_blob`. */
  asked: string | null;
  state: string;
  requested_at: number;
  expires_at: number | null;
  decided_at: number | null;
  decided_by: string | null;
  message: string | null;
  /** The payload of the deciding event, or the blob that holds it. */
  decision: string | null;
  decision_blob: string | null;
}

export interface RuleTable {
  id: string;
  rule: string;
  verdict: string;
  saved_by: string | null;
  saved_at: number;
  /** The workspace that the rule is limited to; null means all. */
  workspace: string | null;
}

export interface PathDecisionTable {
  id: string;
  workspace: string;
  path: string;
  kind: string;
  digest: string | null;
  decided_by: string;
  decided_at: number;
}

export interface NodeTable {
  id: string;
  epoch: number;
  host: string;
  pid: number;
  started_at: number;
  /** PostgreSQL only: the time until which this node counts as alive, by the clock of the database. */
  lease_until: number;
  /** PostgreSQL only: the last batch it committed, so that a commit without a reply can be looked up. */
  batch: number;
}
