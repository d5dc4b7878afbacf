import type { Access } from '../../kernel/tool/access.ts';
import type { Rule } from '../rules/rule.ts';

/**
 * Returns why a rule that a person wrote covers more than calls like the one in question; undefined where it does not. A wildcard
 * of a command stands for the end of one word, and never for a program, an option or a path.
 */
export function whyTooWide({ whole, text, hosts }: Rule, { kind }: Access): string | undefined {
  if (kind === 'unknown' || kind === 'net.search' || kind === 'fs.apply' || kind === 'fs.read') return undefined;
  const pattern = text.slice(text.indexOf('(') + 1, -1);
  const isWide = whole || (hosts === null ? WIDE[kind](pattern) : WIDE_HOST.test(hosts));
  return isWide ? `${text} would also allow calls that do something else` : undefined;
}

/** `*` and `*.org`. */
const WIDE_HOST = /^\*(?:\.[^.]*)?$/;

const WIDE: Readonly<Record<'process.run' | 'net.fetch' | 'fs.write' | 'fs.delete', (pattern: string) => boolean>> = {
  'process.run': (pattern) => {
    const words = pattern.match(/'[^']*'|"[^"]*"|\S+/g) ?? [];
    return words.some((word, at) => /^[^'"]*\*/.test(word) && (at === 0 || !/^\w[\w.@-]*\*$/.test(word)));
  },
  'net.fetch': () => true,
  'fs.write': isWidePath,
  'fs.delete': isWidePath,
};

/** A pattern for files keeps their kind: `docs/*.md`. */
function isWidePath(pattern: string): boolean {
  return /\*\*|\*$/.test(pattern);
}
