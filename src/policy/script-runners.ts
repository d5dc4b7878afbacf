/** A program that runs what a file of the project says. */
export interface Runner {
  /** Files it looks for, in its folder and above. */
  readonly manifests: readonly string[];
  /** Options that say which folder, and which file. */
  readonly folder: readonly string[];
  readonly file: readonly string[];
  /** Options that make it run what other folders say. */
  readonly elsewhere: readonly string[];
  /** It runs the file that it is given. */
  readonly runsFile: boolean;
}

interface Row {
  names: string;
  manifests?: string;
  folder?: string;
  file?: string;
  elsewhere?: string;
  runsFile?: true;
}

const TABLE: readonly Row[] = [
  { names: 'npm', manifests: 'package.json', folder: '--prefix -C', elsewhere: '-w --workspace --workspaces' },
  { names: 'pnpm', manifests: 'package.json', folder: '--dir -C --prefix', elsewhere: '-r --recursive -F --filter' },
  { names: 'yarn', manifests: 'package.json', folder: '--cwd', elsewhere: 'workspace workspaces' },
  { names: 'bun', manifests: 'package.json', folder: '--cwd', elsewhere: '--filter' },
  {
    names: 'make gmake',
    manifests: 'GNUmakefile makefile Makefile',
    folder: '-C --directory',
    file: '-f --file --makefile',
  },
  {
    names: 'just',
    manifests: 'justfile Justfile .justfile',
    folder: '-d --working-directory',
    file: '-f --justfile',
  },
  { names: 'rake', manifests: 'Rakefile rakefile Rakefile.rb', file: '-f --rakefile' },
  { names: 'bundle', manifests: 'Gemfile', file: '--gemfile' },
  { names: 'rspec', manifests: '.rspec spec/spec_helper.rb', file: '-r --require' },
  {
    names: 'task',
    manifests: 'Taskfile.yml Taskfile.yaml taskfile.yml taskfile.yaml',
    folder: '-d --dir',
    file: '-t --taskfile',
  },
  { names: 'tox', manifests: 'tox.ini pyproject.toml setup.cfg', file: '-c --conf' },
  { names: 'nox', manifests: 'noxfile.py', file: '-f --noxfile' },
  {
    names: 'pytest py.test',
    manifests: 'conftest.py tests/conftest.py pytest.ini pyproject.toml',
    folder: '--rootdir',
    file: '-c --config-file',
  },
  { names: 'pip uv', manifests: 'setup.py pyproject.toml', folder: '--directory --project' },
  { names: 'composer', manifests: 'composer.json', folder: '-d --working-dir' },
  { names: 'cargo', manifests: 'build.rs Cargo.toml .cargo/config.toml', folder: '-C', file: '--manifest-path' },
  { names: 'cmake ctest', manifests: 'CMakeLists.txt', folder: '-S -B --build --test-dir' },
  { names: 'mvn mvnw', manifests: 'pom.xml', file: '-f --file' },
  {
    names: 'gradle gradlew',
    manifests: 'build.gradle build.gradle.kts settings.gradle settings.gradle.kts',
    folder: '-p --project-dir',
    file: '-b --build-file -I --init-script',
  },
  {
    names: 'vitest',
    manifests: 'vitest.config.ts vitest.config.js vitest.config.mts vite.config.ts vite.config.js',
    folder: '-r --root',
    file: '-c --config',
  },
  {
    names: 'jest',
    manifests: 'jest.config.js jest.config.ts jest.config.mjs jest.config.cjs package.json',
    folder: '--rootDir',
    file: '-c --config',
  },
  {
    names: 'eslint',
    manifests: 'eslint.config.js eslint.config.mjs eslint.config.ts .eslintrc.js .eslintrc.cjs',
    file: '-c --config',
  },
  { names: 'pre-commit', manifests: '.pre-commit-config.yaml', file: '-c --config' },
  { names: 'sh bash dash zsh ksh source . python node ruby perl php tsx ts-node deno', runsFile: true },
];

export const RUNNERS: ReadonlyMap<string, Runner> = new Map(
  TABLE.flatMap(({ names, manifests, folder, file, elsewhere, runsFile = false }) => {
    const runner = {
      manifests: words(manifests),
      folder: words(folder),
      file: words(file),
      elsewhere: words(elsewhere),
      runsFile,
    };
    return words(names).map((name) => [name, runner] as const);
  }),
);

function words(text = ''): string[] {
  return text.split(' ').filter(Boolean);
}
