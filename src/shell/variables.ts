import type { VariableValue } from './parse-script.ts';
import { isPrecious, type Surroundings } from './resolve-path.ts';
import { plainWord, type ShellWord } from './words.ts';

/** Texts of one variable that are looked at as commands. A command that is computed is asked about anyway. */
const MOST_TEXTS = 20;

/**
 * Which variables of a script may hold the name of a place that nobody wants to lose: `X=/usr`, `for d in / ~`, `Y=$X`.
 * It only ever learns, so that each value is looked at once for each folder.
 */
export class Variables {
  readonly #where: Surroundings;
  #folders: readonly string[];
  #values: VariableValue[] = [];
  /** Variables whose text goes into these others. */
  #usedIn = new Map<string, string[]>();
  #precious = new Set<string>();
  #texts = new Map<string, Set<string>>();

  constructor(where: Surroundings, folders: readonly string[]) {
    this.#where = where;
    this.#folders = folders;
  }

  learn(values: readonly VariableValue[]): void {
    for (const value of values) {
      this.#values.push(value);
      this.#keep(value);
      for (const name of namesIn(value.word)) {
        const users = this.#usedIn.get(name);
        if (this.#precious.has(name)) this.#mark(value.name);
        else if (users === undefined) this.#usedIn.set(name, [value.name]);
        else users.push(value.name);
      }
      this.#look(value, this.#folders);
    }
  }

  /** Later commands may run in these folders too. */
  enter(folders: readonly string[]): void {
    this.#folders = [...this.#folders, ...folders];
    for (const value of this.#values) this.#look(value, folders);
  }

  /** Whether a computed word may become such a place. */
  mayHoldPrecious(word: ShellWord): boolean {
    return word.value === null && namesIn(word).some((name) => this.#precious.has(name));
  }

  /** The texts that a word may hold which is only a variable: `$X`, `"${X}"`, `"${X[@]}"`, `"$1"`. */
  textsOf(word: ShellWord | undefined): readonly string[] {
    const variable = /^"?\$\{?(\w+|[@*])(?:\[[@*\d]+\])?\}?"?$/.exec(word?.text ?? '')?.[1] ?? '';
    return [...(this.#texts.get(/^[\d@*]/.test(variable) ? '@' : variable) ?? [])];
  }

  /** The same command with the options that variables in it may hold: `X=-rf; rm "$X" a`. Undefined without any. */
  withOptions(words: readonly ShellWord[]): readonly ShellWord[] | undefined {
    const known = new Set(words.map(({ value }) => value));
    const before = known.size;
    const isOption = (text: string) => text.startsWith('-');
    const told = words.flatMap((word, at) => {
      const texts = word.value === null && at > 0 ? this.textsOf(word) : [];
      const fresh = texts.filter((text) => isOption(text) && !known.has(text));
      for (const text of fresh) known.add(text);
      return [...fresh.map(plainWord), ...(texts.length > 0 && texts.every(isOption) ? [] : [word])];
    });
    return known.size === before ? undefined : told;
  }

  #keep({ name, word }: VariableValue): void {
    const texts = this.#texts.get(name) ?? new Set();
    this.#texts.set(name, texts);
    for (const text of word.value === null ? this.textsOf(word) : [word.value])
      if (texts.size < MOST_TEXTS) texts.add(text);
  }

  #look({ name, word }: VariableValue, folders: readonly string[]): void {
    if (!this.#precious.has(name) && isPrecious(word, folders, this.#where)) this.#mark(name);
  }

  #mark(name: string): void {
    if (this.#precious.has(name)) return;
    this.#precious.add(name);
    const users = this.#usedIn.get(name) ?? [];
    this.#usedIn.delete(name);
    for (const user of users) this.#mark(user);
  }
}

/** `$X`, `${X%/}`, `${!X}`; all that `set --` gives counts as one. */
function namesIn({ text, value }: ShellWord): string[] {
  if (value !== null) return [];
  return [...text.matchAll(/\$\{?[!#]?(\w+|[@*])/g)].map(([, name = '']) => (/^[\d@*]/.test(name) ? '@' : name));
}
