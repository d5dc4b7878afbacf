import type { RulePatterns } from '../../kernel/tool/tool.ts';
import type { CommandPattern } from './command-pattern.ts';

export type RuleVerdict = 'allow' | 'ask' | 'deny';

/** A rule as people write it: `bash(npm test *)`, `read_file(docs/**)`, `web_fetch(domain:example.org)`, `my_tool`. */
export interface Rule {
  readonly text: string;
  readonly verdict: RuleVerdict;
  /** The canonical name of a tool. */
  readonly tool: string;
  /** What its pattern is about. Undefined where nobody has said: then it may be about anything. */
  readonly patterns: RulePatterns | undefined;
  /** Words of a command line, with wildcards. */
  readonly command: CommandPattern;
  /** Only for commands whose options and operands are known to be ordinary: it was not written for each of them. */
  readonly ordinary: boolean;
  /** A path in the workspace. */
  matchesPath(path: string): boolean;
  /** Whether it is about something below a folder. */
  reachesBelow(folder: string): 'below' | 'maybe below' | undefined;
  matchesUrl(url: URL): boolean;
  /** The hosts it is about: `example.org`, `*.example.org`, either with `:port`, `*` for all; null when it is not about hosts. */
  readonly hosts: string | null;
  /** True for a rule about the tool as a whole. */
  readonly whole: boolean;
}
