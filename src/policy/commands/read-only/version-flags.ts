/** Programs that only tell their version or how they are used, by the one word with which they do. */
const TELLING: Readonly<Record<string, ReadonlySet<string>>> = {
  ...forEach(
    ['--version', '--help', '-h'],
    'node npm npx pnpm yarn bun deno python python3 pip pip3 uv cargo rustc rustup go java javac mvn gradle gcc g++ cc clang make cmake ninja docker git tsc ruby gem perl php composer psql sqlite3 kubectl helm terraform',
  ),
  // For others it means verbose, and what they are given on standard input or find in the folder runs.
  '-v': words('node npm npx pnpm yarn bun ruby perl php gem gcc g++ cc clang make mvn gradle docker git tsc terraform'),
  // For gradle and mvn: say the version, and build.
  '-V': words('python python3 pip pip3 uv cargo rustc rustup deno composer psql'),
  '-version': words('java javac sqlite3 terraform'),
  // For make and gradle a target, for node and python3 a file, for yarn a new version.
  version: words('go npm cargo git docker kubectl helm terraform'),
};

/** A file of the project says which one of these runs, or with what. */
const CHOSEN_BY_PROJECT = words('npx pnpm yarn cargo rustc rustup go mvn gradle composer');

export function saysItsVersion(program: string, word: string): boolean {
  return Object.hasOwn(TELLING, word) && TELLING[word]?.has(program) === true;
}

export function isChosenByProject(program: string): boolean {
  return CHOSEN_BY_PROJECT.has(program);
}

function forEach(options: readonly string[], programs: string): Record<string, ReadonlySet<string>> {
  return Object.fromEntries(options.map((option) => [option, words(programs)]));
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(' '));
}
