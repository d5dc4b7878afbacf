import type { Access } from '../../kernel/tool/access.ts';
import type { FileChangeKind, RulePatterns } from '../../kernel/tool/tool.ts';
import type { CommandPattern } from './command-pattern.ts';

export type RuleVerdict = 'allow' | 'ask' | 'deny';

export type WebMethod = Extract<Access, { kind: 'net.fetch' }>['method'];
export const WEB_METHODS: readonly WebMethod[] = ['GET', 'POST'];

/** A rule as people write it: `bash(npm test *)`, `read_file(docs/**)`, `web_fetch(domain:example.org)`, `my_tool`. */
export interface Rule {
  readonly text: string;
  readonly verdict: RuleVerdict;
  /** The canonical name of a tool. */
  readonly tool: string;
  /** The kind of its pattern. Undefined where the tool does not say: then it may be any kind. */
  readonly patterns: RulePatterns | undefined;
  /** The changes that its tool makes to files: then its paths hold for such changes by every tool and command. */
  readonly changes: FileChangeKind | undefined;
  /** Its tool reads files by their paths. */
  readonly reads: boolean;
  /** The pattern of the paths it is about; null for rules about commands and hosts, and for one about the tool as a whole. */
  readonly paths: string | null;
  /** Words of a command line, with wildcards. */
  readonly command: CommandPattern;
  /** It counts only for commands whose options and operands are known to be ordinary. */
  readonly ordinary: boolean;
  /** `path` is relative to the workspace. */
  matchesPath(path: string): boolean;
  /** Whether it matches a path below a folder. */
  reachesBelow(folder: string): 'below' | 'maybe below' | undefined;
  /** The host alone; `method` says for which requests. */
  matchesUrl(url: URL): boolean;
  /** The only method it is about; null for every method. */
  readonly method: WebMethod | null;
  /** The hosts it matches: `example.org`, `*.example.org`, either with `:port`, `*` for all; null for other kinds of rules. */
  readonly hosts: string | null;
  /** True for a rule about the tool as a whole. */
  readonly whole: boolean;
}

/** Whether a rule about commands names one command word for word: no tool as a whole, and no wildcard. */
export function isExactRule(text: string): boolean {
  return text.includes('(') && !text.includes('*');
}
