import type { SyntaxNode } from 'unbash';
import { HIDDEN } from '../kernel/text/invisible.ts';

/** Words that a shell may read in front of a command. */
const RESERVED =
  /^(?:!|\[\[|\]\]|\{|\}|case|coproc|do|done|elif|else|esac|fi|for|function|if|in|select|then|time|until|while)$/;
const START = String.raw`(?<![^\s;|&])`;
const END = String.raw`(?=[\s;|&]|$)`;

/** A piece of a plain text. Of the streams `&>` is left out, which a POSIX shell reads otherwise, and `~` behind `=` and `:`, which some expand. */
const PIECE = new RegExp(
  [
    // Output that is dropped or joined with another stream.
    String.raw`${START}(?:(?:[12]?>>?|<)[ \t]*/dev/null|[12]?>&[12])${END}`,
    String.raw`${START}(?:\{\}${END}|~(?=[/\s;|&]|$))`,
    String.raw`(?<=[^\s;|&=:])~|(?<=[^\s;|&])#|!`,
    String.raw`&&|[|;\n \t]`,
    String.raw`[\w./:=@%+,^\-\u00a1-\uffff*?[\]]+`,
    String.raw`'[^']*'|"(?:[^"\\$${'`'}]|\\[^\n])*"|\\[^\n\w]`,
  ].join('|'),
  'y',
);

/** Whether a text has nothing but words, quotes, patterns, streams that are dropped or joined, and what stands between plain commands. */
export function isPlainText(source: string): boolean {
  if (HIDDEN.first.test(source)) return false;
  for (let at = 0; at < source.length; at = PIECE.lastIndex) {
    PIECE.lastIndex = at;
    if (!PIECE.test(source)) return false;
  }
  return true;
}

/** Whether a node may stand in a plain script: commands, assignments in front of them, `&&`, `||`, `;` and `|`. */
export function isPlainNode(node: SyntaxNode): boolean {
  switch (node.type) {
    case 'Script':
    case 'AndOr':
      return true;
    case 'Statement':
      return !node.background;
    case 'Pipeline':
      return node.prefixes.length === 0 && node.operators.every((operator) => operator === '|');
    case 'Command':
      return node.name === undefined
        ? node.prefix.some(({ type }) => type === 'Assignment')
        : !RESERVED.test(node.name.text) && !/^[A-Za-z_]\w*(?:\+=|\[)/.test(node.name.text);
    case 'Assignment':
      return !node.append && node.index === undefined;
    default:
      return PLAIN_PARTS.has(node.type);
  }
}

const PLAIN_PARTS: ReadonlySet<string> = new Set(
  'Word Literal SingleQuoted DoubleQuoted Glob Redirect FileDescriptor'.split(' '),
);
