import { posix } from 'node:path';

/** A program that runs what a file of the project says. */
export interface Runner {
  /** Files it looks for, in its folder and above. */
  readonly manifests: readonly string[];
  /** Options that say which folder, and which file. */
  readonly folder: readonly string[];
  readonly file: readonly string[];
  /** Options and words with which it runs what nobody can tell from here: of other folders, of its own text. */
  readonly elsewhere: readonly string[];
  /** It runs the file that it is given. */
  readonly runsFile: boolean;
  /** It runs something only with one of these words. */
  readonly only: readonly string[] | undefined;
}

/** Words are separated by blanks; `a.{b,c}` stands for `a.b a.c`, and `a.code` for every ending of a script in JavaScript. */
interface Row {
  names: string;
  manifests?: string;
  folder?: string;
  file?: string;
  elsewhere?: string;
  runsFile?: true;
  only?: string;
}

const CODE = ['js', 'cjs', 'mjs', 'ts', 'cts', 'mts'];
const PYTHON = 'pyproject.toml setup.cfg setup.py';
const BABEL = 'babel.config.{code,json} .babelrc .babelrc.code';
/** Names of the files that test runners and builders of JavaScript look for, one program a row. */
const CONFIGURED: Readonly<Record<string, string>> = {
  'vitest vite': 'vitest.config.code vite.config.code vitest.workspace.{code,json}',
  jest: `jest.config.{code,json} ${BABEL} package.json`,
  mocha: '.mocharc.{code,json,jsonc,yaml,yml} package.json',
  ava: 'ava.config.code package.json',
  karma: 'karma.conf.code',
  cypress: 'cypress.config.code',
  playwright: 'playwright.config.code',
  eslint: 'eslint.config.code .eslintrc.{code,json,yml,yaml} .eslintrc package.json',
  prettier: 'prettier.config.code .prettierrc.{code,json,yml,yaml} .prettierrc package.json',
  stylelint: 'stylelint.config.code .stylelintrc.{code,json} .stylelintrc',
  webpack: 'webpack.config.code',
  rollup: 'rollup.config.code',
  'tsup tsdown': 'tsup.config.code tsdown.config.code package.json',
  babel: `${BABEL} package.json`,
  'next nuxt astro svelte-kit': '{next,nuxt,astro,svelte}.config.code package.json',
  gulp: 'gulpfile.code',
  grunt: 'Gruntfile.code',
  'turbo nx lerna': 'turbo.json nx.json lerna.json package.json',
  'lint-staged husky lefthook': 'lint-staged.config.code .lintstagedrc .lintstagedrc.code lefthook.yml package.json',
};

const TABLE: readonly Row[] = [
  {
    names: 'npm npx',
    manifests: 'package.json .npmrc',
    folder: '--prefix -C',
    elsewhere: '-w --workspace --workspaces',
  },
  {
    names: 'pnpm pnpx',
    manifests: 'package.json .npmrc .pnpmfile.{cjs,mjs} pnpm-workspace.yaml',
    folder: '--dir -C --prefix',
    elsewhere: '-r --recursive -F --filter',
  },
  {
    names: 'yarn',
    manifests: 'package.json .yarnrc .yarnrc.yml .npmrc .pnp.cjs',
    folder: '--cwd',
    elsewhere: 'workspace workspaces',
  },
  { names: 'bun bunx', manifests: 'package.json bunfig.toml', folder: '--cwd', elsewhere: '--filter', runsFile: true },
  { names: 'deno', manifests: 'deno.{json,jsonc} package.json', file: '-c --config', runsFile: true },
  {
    names: 'make gmake',
    manifests: 'GNUmakefile makefile Makefile',
    folder: '-C --directory',
    file: '-f --file --makefile',
    elsewhere: '--eval -E',
  },
  { names: 'just', manifests: 'justfile Justfile .justfile', folder: '-d --working-directory', file: '-f --justfile' },
  { names: 'rake', manifests: 'Rakefile rakefile Rakefile.rb', file: '-f --rakefile' },
  { names: 'bundle', manifests: 'Gemfile .bundle/config', file: '--gemfile' },
  { names: 'rspec', manifests: '.rspec spec/spec_helper.rb spec/rails_helper.rb', file: '-r --require' },
  { names: 'task', manifests: '{T,t}askfile.{yml,yaml}', folder: '-d --dir', file: '-t --taskfile' },
  { names: 'tox', manifests: `tox.ini ${PYTHON}`, file: '-c --conf' },
  { names: 'nox', manifests: 'noxfile.py', file: '-f --noxfile' },
  { names: 'inv invoke fab doit', manifests: 'tasks.py fabfile.py dodo.py', file: '-c --collection -f' },
  {
    names: 'pytest py.test',
    manifests: `conftest.py tests/conftest.py test/conftest.py pytest.ini .pytest.ini tox.ini ${PYTHON}`,
    folder: '--rootdir --confcutdir',
    file: '-c --config-file',
    elsewhere: '-p --pyargs',
  },
  { names: 'pip', manifests: PYTHON, file: '-r --requirement' },
  {
    names: 'uv uvx poetry pdm hatch rye',
    manifests: `${PYTHON} {uv,poetry,pdm,hatch}.toml`,
    folder: '--directory --project -C',
  },
  { names: 'pipenv', manifests: 'Pipfile' },
  { names: 'composer', manifests: 'composer.json', folder: '-d --working-dir' },
  {
    names: 'cargo',
    manifests: 'build.rs Cargo.toml .cargo/config.toml .cargo/config',
    folder: '-C',
    file: '--manifest-path --config',
  },
  {
    names: 'cmake ctest',
    manifests: 'CMakeLists.txt CMakePresets.json',
    folder: '-S -B --build --test-dir',
    file: '-P',
  },
  { names: 'ninja meson', manifests: 'build.ninja meson.build', folder: '-C', file: '-f' },
  { names: 'mvn mvnw', manifests: 'pom.xml .mvn/jvm.config .mvn/extensions.xml', file: '-f --file' },
  { names: 'ant', manifests: 'build.xml', file: '-f -file -buildfile' },
  {
    names: 'gradle gradlew',
    manifests: '{build,settings}.gradle {build,settings}.gradle.kts gradle.properties',
    folder: '-p --project-dir',
    file: '-b --build-file -I --init-script',
  },
  { names: 'pre-commit', manifests: '.pre-commit-config.yaml', file: '-c --config' },
  {
    names: 'git',
    manifests: '.husky/{pre-commit,commit-msg,pre-push,post-checkout,post-merge} .pre-commit-config.yaml lefthook.yml',
    folder: '-C',
    only: 'commit push merge rebase am checkout switch pull cherry-pick',
  },
  ...Object.entries(CONFIGURED).map(([names, manifests]) => ({
    names,
    manifests,
    folder: '-r --root --rootDir',
    file: '-c --config',
  })),
  { names: 'sh bash dash zsh ksh source . python ruby perl php tsx ts-node', runsFile: true },
  { names: 'node', manifests: 'package.json', runsFile: true },
];

const RUNNERS: ReadonlyMap<string, Runner> = new Map(
  TABLE.flatMap(({ names, manifests, folder, file, elsewhere, runsFile = false, only }) => {
    const runner = {
      manifests: words(manifests).flatMap(spelledOut),
      folder: words(folder),
      file: words(file),
      elsewhere: words(elsewhere),
      runsFile,
      only: only === undefined ? undefined : words(only),
    };
    return words(names).map((name) => [name, runner] as const);
  }),
);

/** By its name, wherever it lies: `.venv/bin/python3.11` is `python`. */
export function runnerOf(program: string): Runner | undefined {
  const name = posix.basename(program).replace(/\.(exe|cmd|bat|ps1)$/i, '');
  return RUNNERS.get(name) ?? RUNNERS.get(name.replace(/(?<![\d.-])[\d.-]+$/, ''));
}

function words(text = ''): string[] {
  return text.split(' ').filter(Boolean);
}

function spelledOut(name: string): string[] {
  const [, before = '', list, after = ''] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(name) ?? [];
  if (list !== undefined) return list.split(',').flatMap((one) => spelledOut(`${before}${one}${after}`));
  return name.endsWith('.code') ? CODE.map((ending) => name.replace(/code$/, ending)) : [name];
}
