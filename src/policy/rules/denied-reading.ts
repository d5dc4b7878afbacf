import type { FileRule } from '../../kernel/world/sensitive-files.ts';
import type { Rule } from './rule.ts';

/**
 * Returns the file rules by which paths that deny rules keep from a tool that reads files are kept from every tool and command:
 * a file that may not be read would else be searched, moved away, or printed by a command.
 */
export function deniedReading(rules: readonly Rule[]): readonly FileRule[] {
  return rules.flatMap(({ verdict, reads, paths, text }) =>
    verdict === 'deny' && reads && paths !== null
      ? [{ pattern: `/${paths}`, access: 'hidden', reason: `the rule ${text} refuses to read it` } as const]
      : [],
  );
}
