import type { Caught } from '../caught.ts';
import type { RuleLookup } from '../commands/command-judgement.ts';
import type { Rule } from './rule.ts';
import type { KnownWord } from '../word-pattern.ts';

/**
 * The strictest rule for a command. A rule that holds something back is met by whatever may be it; one that allows must
 * know every word.
 */
export function lookUp(rules: readonly Rule[]): RuleLookup {
  return (words) => {
    const known = words.every((word) => word !== null) ? (words as readonly string[]) : undefined;
    const caught = rules
      .filter(({ verdict }) => verdict !== 'allow')
      .map((rule) => ({ rule, sure: sureness(rule, words) }));
    const held = caught.find(({ sure }) => sure === 'yes') ?? caught.find(({ sure }) => sure === 'maybe');
    if (held !== undefined) {
      const { text, verdict } = held.rule;
      if (held.sure === 'yes')
        return { verdict, rule: text, reason: `The rule ${text} ${verdict === 'deny' ? 'refuses' : 'asks about'} it.` };
      return {
        verdict: 'ask',
        rule: text,
        reason: `The rule ${text} may be about it: not all of it is known before it runs.`,
      };
    }
    if (known === undefined) return undefined;
    const rule = rules.find(({ verdict, command }) => verdict === 'allow' && command.matches(known));
    if (rule === undefined) return undefined;
    const { text, ordinary, command } = rule;
    return { verdict: 'allow', rule: text, reason: `The rule ${text} allows it.`, ordinary, names: command.names };
  };
}

function sureness(rule: Rule, words: readonly KnownWord[]): Caught {
  return rule.whole ? 'yes' : rule.command.catches(words);
}
