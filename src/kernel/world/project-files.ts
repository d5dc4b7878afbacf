import type { TextMatcher } from '../text/automaton.ts';
import { globMatcher, PATH_RULE_GLOB } from '../text/glob.ts';
import { RUN_BY } from './obeyed-files.ts';

/**
 * Files of a project from which its tools take commands, code or the names of files to load, with the programs that do so. Lock files are
 * not among them, as they name packages of the registry like the words of an installation; that of a published package is, which comes first.
 */
const PROJECT_FILES: typeof RUN_BY = [
  ['npm pnpm yarn bun node', 'package.json', 'node_modules', 'pnpm-workspace.yaml', 'bunfig.toml'],
  ['npm pnpm yarn bun node', 'binding.gyp', '*.gypi', 'npm-shrinkwrap.json'],
  ['npm pnpm yarn bun node', 'lerna.json', 'nx.json', 'project.json', 'turbo.json', 'rush.json', 'wireit.json'],
  ['deno', 'deno.json', 'deno.jsonc', 'package.json'],
  ['node npx jest vitest mocha eslint prettier babel webpack vite', '*.config.*', '.*rc', '.*rc.*', '*.conf.*js'],
  ['node npx jest vitest mocha gulp grunt karma', 'vitest.workspace.*', 'gulpfile.*', 'gruntfile.*', 'karma.conf.*'],
  ['tsc ts-node tsx jest vitest eslint', 'tsconfig.json', 'tsconfig.*.json', 'jsconfig.json', 'package.json'],
  ['make gmake', 'makefile', 'gnumakefile', '*.mk', 'makefile.*'],
  ['cmake ctest', 'cmakelists.txt', '*.cmake', 'cmakepresets.json', 'cmakeuserpresets.json', 'ctesttestfile.cmake'],
  ['meson ninja', 'meson.build', 'meson.options', 'meson_options.txt', '*.ninja'],
  ['just', 'justfile', '.justfile', '*.just'],
  ['task', 'taskfile.y*ml', 'taskfile.dist.y*ml'],
  ['bazel', 'build', 'build.bazel', 'workspace', 'workspace.bazel', 'module.bazel', '*.bzl', '.bazelrc'],
  ['python python3 pytest tox nox pip uv', 'conftest.py', 'pytest.ini', 'pyproject.toml', 'setup.cfg', 'tox.ini'],
  ['python python3 pytest tox nox pip uv', 'setup.py', 'noxfile.py', 'uv.toml', '*.pth', 'manage.py'],
  ['python python3 pytest tox nox pip uv', 'sitecustomize.py', 'usercustomize.py', 'hatch.toml', 'pixi.toml'],
  ['cargo rustc', 'cargo.toml', 'build.rs', 'rust-toolchain', 'rust-toolchain.toml', '**/.cargo/**'],
  ['go', 'go.mod', 'go.work', 'magefile.go', '.golangci.*'],
  ['gradle gradlew', '*.gradle', '*.gradle.kts', 'gradle.properties', 'gradlew', '**/gradle/wrapper/**'],
  ['gradle gradlew', '**/buildsrc/**', 'libs.versions.toml'],
  ['mvn mvnw', 'pom.xml', 'mvnw', '**/.mvn/**'],
  ['sbt', '*.sbt', '**/project/*.scala', '**/project/build.properties'],
  ['rake ruby bundle rspec', 'rakefile', '*.rake', 'gemfile', '*.gemspec', '.rspec', 'spec_helper.rb'],
  ['php composer phpunit', 'composer.json', 'phpunit.xml', 'phpunit.xml.dist', '.php-cs-fixer.*'],
  ['mix elixir rebar3', 'mix.exs', 'rebar.config', 'rebar.config.script', '**/config/*.exs'],
  [
    'dotnet msbuild',
    '*.csproj',
    '*.fsproj',
    '*.vbproj',
    '*.props',
    '*.targets',
    '*.sln',
    'global.json',
    'nuget.config',
  ],
  ['swift', 'package.swift'],
  ['zig', 'build.zig', 'build.zig.zon'],
  ['dune', 'dune', 'dune-project', 'dune-workspace'],
  ['stack cabal', 'stack.yaml', '*.cabal', 'cabal.project', 'setup.hs'],
  ['sed awk gawk mawk'],
  ['direnv', '.envrc'],
  ['foreman', 'procfile', 'procfile.*'],
];

/** Programs that run what a file of the project says: any program, so that the files of all programs count. */
const RUNNERS = new Set(
  `npm pnpm yarn bun npx deno make gmake just task tox nox rake mage bazel cmake ctest ninja meson gradle gradlew mvn mvnw
  composer mix dune foreman`.split(/\s+/),
);

/** Programs that read, name, move or send files and take no commands from any. */
const READERS = new Set(
  `pwd echo printf true false : test [ [[ ls cat head tail wc cut tr nl grep egrep fgrep rg basename dirname realpath readlink
  stat du df seq sleep whoami id uname type which date expr cd pushd popd find fd sort uniq diff cmp comm paste column tree
  file jq less more mkdir rmdir touch cp mv rm ln chmod tee tar gzip gunzip zip unzip sha256sum md5sum base64 xxd od curl wget
  ps kill export unset set exit return wait`.split(/\s+/),
);

/** Whether a program only reads, so that no text of the project makes it do something else. */
export function onlyReads(program: string): boolean {
  return READERS.has(program);
}

/** Whether a program starts the commands that files of the project hold; taken to be so of a program that is not known. */
export function runsScripts(program: string): boolean {
  if (onlyReads(program)) return false;
  table ??= rowsOfTable();
  return RUNNERS.has(program) || !table.some(({ programs }) => programs.has(program));
}

const PROGRAM_ENDING =
  /\.(?:[cm]?[jt]sx?|py|pyw|pyz|rb|p[lm]|php|lua|r|jl|sh|bash|zsh|ksh|fish|ps1|bat|cmd|awk|tcl|groovy|scala|kts?|java|jar|wasm|exs?|scpt)$/i;

/** Whether an interpreter runs such a file: by its ending, by a first line `#!`, or because it has no ending and so may be anything. */
export function isProgramText(path: string, start: string): boolean {
  return PROGRAM_ENDING.test(path) || start.startsWith('#!') || !/[^/]\.[^/]*$/.test(path);
}

interface ObeyedRow {
  readonly programs: ReadonlySet<string>;
  readonly matches: TextMatcher;
}

let table: readonly ObeyedRow[] | undefined;

/** Whether a program takes commands or code from a file of this path. Of a program that is not known every file in the table counts. */
export function obeysFile(program: string, path: string): boolean {
  if (onlyReads(program)) return false;
  table ??= rowsOfTable();
  const rows = table;
  const own = RUNNERS.has(program) ? [] : rows.filter(({ programs }) => programs.has(program));
  const lower = path.toLowerCase();
  return (own.length === 0 ? rows : own).some(({ matches }) => matches(lower));
}

function rowsOfTable(): readonly ObeyedRow[] {
  return [...RUN_BY, ...PROJECT_FILES].map(([programs, ...patterns]) => ({
    programs: new Set(programs.toLowerCase().split(' ')),
    matches: globMatcher(patterns.flatMap(wholePatterns), PATH_RULE_GLOB),
  }));
}

/** A pattern means what it names and all below it; one without a slash any name in the path. */
function wholePatterns(pattern: string): string[] {
  const lower = pattern.toLowerCase();
  const anywhere = lower.startsWith('**/') ? lower : `**/${lower}`;
  return [anywhere, `${anywhere}/**`];
}
