/** The rules and the next step for whoever broke one. */
export const ADVICE = {
  parameters: 'takes more than 3 parameters: keep up to three, put the rest in one options object',
  'boolean parameter': 'has a boolean positional parameter: make it a named option or two functions',
  'function length': 'is longer than 120 lines: split it by idea',
  'folder size': 'has more than 22 source files: group them in sub-folders by idea',
  'repeated type name': 'is declared in 3 or more files: give each type a name of its own, or share one',
  'missing readme': 'has no README.md: write its contract, in a few lines',
  'file name': 'is a participle or a clause: name the file with a noun or with a verb and its object',
  'type name': 'says nothing alone: name the type with a noun that says which one it is',
  'comment begins with What': 'has comments with a sentence that begins with "What": give it a concrete subject',
  guillemets: 'has guillemets: write "…"',
} as const;

export type Rule = keyof typeof ADVICE;

export interface Violation {
  readonly rule: Rule;
  /** A path, and for a function or a type its name: it stays the same when lines move. */
  readonly place: string;
  /** Parameters, lines, files or occurrences; 1 where there is nothing to count. */
  readonly size: number;
}
