import type { Dialer } from '../kernel/world/dialer.ts';
import type { FilePolicy } from '../kernel/world/file-policy.ts';
import type { PathDecisions } from '../kernel/world/path-decisions.ts';

/** The options of every sandbox that isolates. */
export interface IsolationOptions {
  readonly filePolicy: FilePolicy;
  /** The decisions of people about paths. Left out: none. */
  readonly decisions?: PathDecisions;
  /** Left out: a run that asks for network fails with NOT_CONFIGURED. */
  readonly dialer?: Dialer;
  /** Of the host: the search path tells which interpreters to show; the home folder must stay hidden. */
  readonly path: string;
  readonly home: string;
  /** Where the sandbox keeps its few files: a folder that exists and is not in any workspace. */
  readonly stateDir: string;
  /** Further folders of the host to show read-only. */
  readonly readOnlyFolders?: readonly string[];
  readonly maxRunning?: number;
}
