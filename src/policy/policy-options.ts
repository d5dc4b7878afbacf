import type { FilePolicy } from '../kernel/world/file-policy.ts';
import type { UrlJudge } from '../kernel/world/web.ts';
import type { Mode } from './mode.ts';
import type { Rule } from './rules/rule.ts';

/**
 * Where the changes of a command go.
 *   staged      it runs in a stage, and its changes are judged when it has ended
 *   read-first  it runs where nothing can be written; to write it must run again, live, after a yes
 *   live        nothing contains it
 */
export type CommandEffects = 'staged' | 'read-first' | 'live';

export type DataFlowMode = 'ask' | 'off';

export interface PolicyOptions {
  readonly mode: Mode;
  readonly rules: readonly Rule[];
  readonly files: FilePolicy;
  /** The same for paths that commands name. Left out: `files`. */
  readonly commandFiles?: FilePolicy;
  /** The user's home folder, which no command may touch. */
  readonly home: string;
  /** Where the changes of commands go on this machine. Left out: `staged`. */
  readonly effects?: CommandEffects;
  /** Says which URLs are never fetched and which hosts are allowed; comes from `createWeb`. */
  readonly urls?: UrlJudge;
  /** `ask`: about sending, once private data and untrusted text are in a session. Left out: `ask`. */
  readonly dataFlow?: DataFlowMode;
}
