/**
 * Characters that a reader does not see, or sees as others, by class; each is the content of a class of a regular
 * expression. They overlap: most bidirectional controls, zero-width characters and tags are `format` and `ignorable` too.
 */
const CLASSES = {
  /** C0, C1 and DEL: terminals obey them. */
  control: '\\p{Cc}',
  /** Controls that turn the direction of the text around them. */
  bidi: '\\u202a-\\u202e\\u2066-\\u2069',
  /** Line and paragraph separators. */
  separator: '\\p{Zl}\\p{Zp}',
  /** Zero-width and directional characters, tags, and some signs of Arabic and Syriac that can be seen. */
  format: '\\p{Cf}',
  /** Everything that is drawn as nothing: zero-width characters, variation selectors, fillers, tags. */
  ignorable: '\\p{Default_Ignorable_Code_Point}',
  /** Tags and variation selectors of plane 14: they can carry whole sentences unseen. */
  tag: '\\u{e0000}-\\u{e01ef}',
  /** Marks around annotations. */
  annotation: '\\ufff9-\\ufffb',
  /** Spaces narrower than the usual one. */
  narrowSpace: '\\u202f\\u205f',
  /** All other spaces but the usual one, and the empty Braille pattern. */
  otherSpace: '\\u00a0\\u1680\\u2000-\\u200a\\u3000\\u2800',
  /** Halves of a pair: no text has them alone. */
  surrogate: '\\p{Cs}',
  noncharacter: '\\p{Noncharacter_Code_Point}',
} as const;

type InvisibleClass = keyof typeof CLASSES;

/** Characters of some classes, as regular expressions for Unicode. */
export interface InvisibleSet {
  readonly source: string;
  /** The first of them; has no state. */
  readonly first: RegExp;
  readonly all: RegExp;
}

/** `except` is the content of a class too, such as `\n\t`. */
export function invisibleSet(classes: readonly InvisibleClass[], except = ''): InvisibleSet {
  const characters = `[${classes.map((name) => CLASSES[name]).join('')}]`;
  const source = except === '' ? characters : `(?![${except}])${characters}`;
  return { source, first: new RegExp(source, 'u'), all: new RegExp(source, 'gu') };
}

/** Characters that terminals and readers obey instead of showing them. */
export const STEERING = invisibleSet(['control', 'separator', 'bidi']);

/** Characters that are not seen, line ends and tabs aside. Some languages and emoji need a few of them. */
export const HIDDEN = invisibleSet(
  ['control', 'separator', 'format', 'ignorable', 'surrogate', 'noncharacter'],
  '\\n\\t',
);

export function hasInvisible(text: string, { first }: InvisibleSet): boolean {
  return first.test(text);
}

/** The text with `\u200b` instead of the character. */
export function escapeInvisible(text: string, { all }: InvisibleSet, toShown = toEscape): string {
  return text.replace(all, toShown);
}

export function removeInvisible(text: string, { all }: InvisibleSet): string {
  return text.replace(all, '');
}

/** `\u200b`. */
function toEscape(character: string): string {
  return `\\u${toHex(character)}`;
}

/** `U+200B`. */
export function codePointName(character: string): string {
  return `U+${toHex(character).toUpperCase()}`;
}

function toHex(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0');
}
