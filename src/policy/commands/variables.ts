import { isPrecious, type Surroundings } from './places.ts';
import type { Value } from './shell-script.ts';
import type { ShellWord } from './shell-words.ts';

/**
 * Which variables of a script may hold the name of a place that nobody wants to lose: `X=/usr`, `for d in / ~`, `Y=$X`.
 * It only ever learns, so that each value is looked at once for each folder.
 */
export class Variables {
  readonly #where: Surroundings;
  #folders: readonly string[];
  #values: Value[] = [];
  /** Variables whose text goes into these others. */
  #usedIn = new Map<string, string[]>();
  #precious = new Set<string>();

  constructor(where: Surroundings, folders: readonly string[]) {
    this.#where = where;
    this.#folders = folders;
  }

  learn(values: readonly Value[]): void {
    for (const value of values) {
      this.#values.push(value);
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

  /** What a word that is nothing but a variable may hold: `$X`, `"${X}"`. */
  textsOf(word: ShellWord | undefined): readonly string[] {
    const variable = /^"?\$\{?(\w+)\}?"?$/.exec(word?.text ?? '')?.[1];
    return this.#values.flatMap(({ name, word: { value } }) => (name === variable && value !== null ? [value] : []));
  }

  #look({ name, word }: Value, folders: readonly string[]): void {
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
