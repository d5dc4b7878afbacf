/** A word of a command as far as it is known: null may become anything at run time, also several words or none. */
export type KnownWord = string | null;

export interface CommandPattern {
  /** Exactly these words. */
  matches(argv: readonly string[]): boolean;
  /**
   * For rules that hold something back. Options in front of what the pattern names do not hide it, nor does the folder
   * of the program. `maybe`: it depends on what is known only at run time.
   */
  catches(words: readonly KnownWord[]): 'yes' | 'maybe' | 'no';
}

export const EVERY_COMMAND: CommandPattern = { matches: () => true, catches: () => 'yes' };
export const NO_COMMAND: CommandPattern = { matches: () => false, catches: () => 'no' };

/**
 * `npm test *`: the words as they stand, `*` inside a word for anything in it, and at the end for any further words. A
 * word in quotes is meant letter by letter.
 */
export function commandPattern(pattern: string): CommandPattern {
  const words = pattern.replace(/:\*$/, ' *').match(/'[^']*'|"[^"]*"|\S+/g) ?? [];
  const open = words.at(-1) === '*';
  const fixed = (open ? words.slice(0, -1) : words).map(wordPattern);
  return {
    matches(argv) {
      if (open ? argv.length < fixed.length : argv.length !== fixed.length) return false;
      return fixed.every(({ matches }, index) => matches(argv[index] ?? ''));
    },
    catches: (given) => catches(fixed, open, given),
  };
}

interface WordPattern {
  readonly isOption: boolean;
  matches(given: string): boolean;
}

function wordPattern(word: string): WordPattern {
  const literal = /^(['"])(.*)\1$/s.exec(word)?.[2];
  const isOption = (literal ?? word).startsWith('-');
  if (literal !== undefined || !word.includes('*'))
    return { isOption, matches: (given) => given === (literal ?? word) };
  const source = word.split('*').map((part) => part.replace(/[\\^$+.()|[\]{}?]/g, '\\$&'));
  const regex = new RegExp(`^${source.join('.*')}$`, 's');
  return { isOption, matches: (given) => regex.test(given) };
}

function catches(fixed: readonly WordPattern[], open: boolean, given: readonly KnownWord[]): 'yes' | 'maybe' | 'no' {
  const program = given[0]?.replace(/^.*\//s, '') ?? null;
  const words = [program, ...given.slice(1)];
  const takes = Object.hasOwn(TAKING, program ?? '') ? TAKING[program ?? '']?.split(' ') : undefined;
  let sure = true;
  let at = 0;
  let mayBeValue = false;
  for (const { matches, isOption } of fixed) {
    for (;;) {
      const word = words[at];
      if (word === undefined) return 'no';
      if (word === null) return 'maybe';
      if (matches(word) || (at === 0 && matches(given[0] ?? ''))) break;
      if (at === 0) return 'no';
      if (/^[-+]/.test(word) && !isOption) {
        const value = takes?.includes(word) ? words[at + 1] : undefined;
        // `git -c alias.x=push x` gives a subcommand another name.
        if (value === null || /^alias\./i.test(value ?? '')) return 'maybe';
        at += value === undefined ? 1 : 2;
        mayBeValue = value === undefined && !word.includes('=');
      } else if (mayBeValue) {
        at++;
        mayBeValue = false;
        sure = false;
      } else return 'no';
    }
    at++;
    mayBeValue = false;
  }
  if (open || at === words.length) return sure ? 'yes' : 'maybe';
  return words.slice(at).every((word) => word === null) ? 'maybe' : 'no';
}

/** Options in front of a subcommand that take the next word. Of those that are not here it is not known. */
const TAKING: Readonly<Record<string, string>> = {
  git: '-C -c --git-dir --work-tree --namespace --exec-path --config-env --attr-source --super-prefix',
  npm: '-C -w --prefix --workspace --userconfig --globalconfig --registry --loglevel --cache --script-shell',
  pnpm: '-C -F --dir --filter --reporter --loglevel',
  yarn: '--cwd --mutex --cache-folder --modules-folder',
  cargo: '-C -Z --color --config',
  docker: '-H -c -l --host --context --config --log-level --tlscacert --tlscert --tlskey',
  kubectl: '-n -s --namespace --context --cluster --kubeconfig --user --token --server --as',
};
