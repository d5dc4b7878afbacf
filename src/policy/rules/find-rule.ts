import type { RuleAnswer, RuleLookup } from '../commands/command-judgement.ts';
import type { MatchCertainty } from './match-certainty.ts';
import type { Rule } from './rule.ts';
import type { KnownWord } from './word-pattern.ts';

/**
 * Returns a function that finds the strictest rule for a command. An ask or deny rule applies to every command that may be
 * the one meant; an allow rule applies only where every word is known.
 */
export function createRuleLookup(rules: readonly Rule[]): RuleLookup {
  const restricted = rules.filter(({ verdict, whole }) => verdict !== 'allow' && !whole);
  return { find, restricts: (program) => restricted.some(({ command }) => command.begins(program)) };

  function find(words: readonly KnownWord[]): RuleAnswer | undefined {
    const known = words.every((word) => word !== null) ? (words as readonly string[]) : undefined;
    const caught = rules
      .filter(({ verdict }) => verdict !== 'allow')
      .map((rule) => ({ rule, sure: certaintyOf(rule, words) }));
    const held = caught.find(({ sure }) => sure === 'yes') ?? caught.find(({ sure }) => sure === 'maybe');
    if (held !== undefined) {
      const { text, verdict } = held.rule;
      if (held.sure === 'yes')
        return {
          verdict,
          rule: text,
          reason: `The rule ${text} ${verdict === 'deny' ? 'refuses it' : 'requires approval'}.`,
        };
      return {
        verdict: 'ask',
        rule: text,
        reason: `The rule ${text} may be about it: not all of it is known before it runs.`,
      };
    }
    if (known === undefined) return undefined;
    const rule = rules.find(({ verdict, command }) => verdict === 'allow' && command.matches(known));
    if (rule === undefined) return undefined;
    const { text, whole, ordinary, command } = rule;
    return {
      verdict: 'allow',
      rule: text,
      reason: `The rule ${text} allows it.`,
      whole,
      ordinary,
      names: command.names,
    };
  }
}

function certaintyOf(rule: Rule, words: readonly KnownWord[]): MatchCertainty {
  return rule.whole ? 'yes' : rule.command.certainty(words);
}
