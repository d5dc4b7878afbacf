export type RuleVerdict = 'allow' | 'ask' | 'deny';

/** A rule as people write it: `bash(npm test *)`, `read_file(docs/**)`, `web_fetch(domain:example.org)`, `my_tool`. */
export interface Rule {
  readonly text: string;
  readonly verdict: RuleVerdict;
  /** The canonical name of a tool. */
  readonly tool: string;
  /** Words of a command line, with wildcards. */
  matchesCommand(argv: readonly string[]): boolean;
  /** A path in the workspace. */
  matchesPath(path: string): boolean;
  matchesUrl(url: URL): boolean;
  /** True for a rule about the tool as a whole. */
  readonly whole: boolean;
}
