/**
 * The tables, as Kysely sees them. Text and integers only: JSON is text, times are wall-clock milliseconds, yes and no
 * are 1 and 0, so that both databases hold the same.
 */
export interface Tables {
  sessions: SessionTable;
  /** What was said when a session was opened. */
  session_info: SessionInfoTable;
  /** Sessions that a process works on. It counts as long as that life of the process goes on. */
  session_holds: { session: string; node: string; node_epoch: number };
  /** One row: the last position given, and how many events were pruned. Its lock orders the writers of all processes. */
  log_head: { id: number; pos: number; pruned: number };
  events: EventTable;
  calls: CallTable;
  approvals: ApprovalTable;
  rules: RuleTable;
  tool_states: { tool: string; enabled: number; changed_at: number };
  nodes: NodeTable;
  schema_version: { version: number };
  /** When this boot of this machine began to count, so that all its processes tell the same time. */
  store_clock: { boot_id: string; wall_ms: number; uptime_ms: number };
  /** Only where several machines share the store; otherwise blobs are files. */
  blobs: { hash: string; bytes: Uint8Array; size: number; put_at: number };
}

export interface SessionTable {
  id: string;
  created_at: number;
  updated_at: number;
  last_seq: number;
  last_hash: string;
  /** The last event that was pruned, and its hash: where the chain is picked up. */
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
  /** The payload, or null when it is the blob. */
  data: string | null;
  blob: string | null;
  hash: string;
}

/** A call with the payload of the event that tells its end, where there is one. */
export type KnownCall = CallTable & { ended_data?: string | null; ended_blob?: string | null };

/** A call with what the approvals tell of it, too. */
export type ShownCall = KnownCall & { readonly approved_by: string | null; readonly denied_by: string | null };

export interface CallTable {
  id: string;
  /** Of the event that requested it: the order of calls, and the cursor of pages. */
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
  /** Null where the event of its end tells it; calls of older versions have it here too. */
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
  /** The payload of the event that asked, or null when it is `args_blob`. */
  asked: string | null;
  state: string;
  requested_at: number;
  expires_at: number | null;
  decided_at: number | null;
  decided_by: string | null;
  message: string | null;
  /** The payload of the event that decided, or the blob that holds it. */
  decision: string | null;
  decision_blob: string | null;
}

export interface RuleTable {
  id: string;
  rule: string;
  verdict: string;
  saved_by: string | null;
  saved_at: number;
  /** The only one it holds in; null holds in all. */
  workspace: string | null;
}

export interface NodeTable {
  id: string;
  epoch: number;
  host: string;
  pid: number;
  started_at: number;
  /** PostgreSQL only: until when this node counts as alive, by the database's clock. */
  lease_until: number;
  /** PostgreSQL only: the last batch it committed, so that an unanswered commit can be looked up. */
  batch: number;
}
