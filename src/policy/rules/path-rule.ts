import type { RealPath } from '../../kernel/ports.ts';
import { globMatcher, PATH_RULE_GLOB } from '../../kernel/text/glob.ts';
import type { Rule } from './rule.ts';

/** A file that a call uses, by the path in the call and by its real path. */
interface UsedFile {
  readonly path: string;
  readonly real: RealPath;
  /** It is more than reading: then a folder is used with everything in it. */
  readonly changes: boolean;
}

export interface PathRuleMatch {
  readonly rule: Rule;
  readonly by: 'name' | 'below' | 'maybe below';
}

/**
 * Returns the rules that hold for a change by this tool: its own, and those about paths of every tool that makes such changes.
 * A rule about another tool as a whole says nothing; whoever may not write a file may not delete it either.
 */
export function rulesAboutChange(
  tool: string,
  { kind, rules }: { kind: 'write' | 'delete'; rules: readonly Rule[] },
): readonly Rule[] {
  return rules.filter((rule) => {
    if (rule.tool === tool) return true;
    if (rule.changes === undefined || rule.whole) return false;
    return kind === 'delete' ? rule.changes !== 'writes' || rule.verdict !== 'allow' : rule.changes !== 'deletes';
  });
}

/**
 * Returns the strictest rule about a file; `rules` come strictest first. An allow rule must match both paths; an ask or deny
 * rule matches either, and for a folder also a path below it. A rule that only may match refuses nothing.
 */
export function strictestRule(rules: readonly Rule[], { path, real, changes }: UsedFile): PathRuleMatch | undefined {
  const names = [...new Set([path, real.path])];
  const found = rules.flatMap((rule): PathRuleMatch[] => {
    const by =
      rule.verdict === 'allow'
        ? matchAllow(rule, names)
        : matchRestriction(rule, names, { folder: real.folder, changes });
    return by === undefined ? [] : [{ rule, by }];
  });
  return found.find(({ rule, by }) => rule.verdict === 'deny' && by !== 'maybe below') ?? found[0];
}

function matchAllow(rule: Rule, names: readonly string[]): PathRuleMatch['by'] | undefined {
  return names.every((name) => rule.matchesPath(name)) ? 'name' : undefined;
}

function matchRestriction(
  rule: Rule,
  names: readonly string[],
  { folder, changes }: { folder: boolean; changes: boolean },
): PathRuleMatch['by'] | undefined {
  if (names.some((name) => rule.matchesPath(name))) return 'name';
  if (!folder) return undefined;
  if (names.some((name) => rule.matchesPath(`${name === '' ? '' : `${name}/`}${ANY_NAME}`))) return 'below';
  if (!changes) return undefined;
  const below = names.map((name) => rule.reachesBelow(name));
  return below.includes('below') ? 'below' : below.find((each) => each !== undefined);
}

/** A name that no rule contains: a rule that matches it matches everything in the folder. */
const ANY_NAME = '\0';

/**
 * Whether a pattern matches a path below a folder. Only maybe where a wildcard stands for a name on the way: not every
 * folder that fits contains such a path.
 */
export function reachesBelow(pattern: string): (folder: string) => 'below' | 'maybe below' | undefined {
  const written = pattern.split('/');
  const parts = written.map((part) => ({ deep: part.includes('**'), matches: globMatcher(part, PATH_RULE_GLOB) }));
  // Stars at the end match every path that is there.
  const named = written.slice(0, written.findLastIndex((part) => !/^\*+$/.test(part)) + 1);
  const exact = !named.some((part) => /[*?]/.test(part));
  return (folder) => {
    const names = folder === '' ? [] : folder.split('/');
    for (const [index, name] of names.entries()) {
      const part = parts[index];
      if (part?.deep) return 'maybe below';
      if (!part?.matches(name)) return undefined;
    }
    if (parts.length <= names.length) return undefined;
    return exact || names.length >= named.length ? 'below' : 'maybe below';
  };
}
