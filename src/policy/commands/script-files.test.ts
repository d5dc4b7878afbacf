import { describe, expect, test } from 'vitest';
import { scriptFiles } from './script-files.ts';

describe('the files whose text a command would run', () => {
  test.each<[string, string[]]>([
    ['npm test', ['package.json']],
    ['cd "web" && npm test', ['web/package.json', 'package.json']],
    ["cd 'web app' && npm test", ['web app/package.json']],
    ['npm --prefix web test', ['web/package.json']],
    ['npm --prefix=web test', ['web/package.json']],
    ['npm -C web test', ['web/package.json']],
    ['yarn --cwd web test', ['web/package.json']],
    ['"npm" test', ['package.json']],
    ['n"p"m test', ['package.json']],
    ['make -C lib all', ['lib/Makefile', 'lib/GNUmakefile']],
    ['make -Clib all', ['lib/Makefile']],
    ['make --directory=lib all', ['lib/Makefile']],
    ['make -f build.mk', ['build.mk']],
    ['make -C lib -f build.mk', ['lib/build.mk']],
    ['make --file "build.mk"', ['build.mk']],
    ['timeout 60 npm test', ['package.json']],
    ["bash -c 'make -f x.mk'", ['x.mk']],
    ['env CI=1 npm test', ['package.json']],
    ['(cd a; cd b; ./run.sh)', ['a/b/run.sh']],
    ['"./build.sh" --fast', ['build.sh']],
    ['python3 "tools/gen.py" data.json', ['tools/gen.py']],
    ['python3 -u tools/gen.py', ['tools/gen.py']],
    ['python3 -m pytest', ['conftest.py']],
    ['python3 -m tools.gen', ['tools/gen.py', 'tools/gen/__main__.py']],
    ['node --import ./hook.mjs main.js', ['hook.mjs', 'main.js']],
    ['node --import=./hook.mjs main.js', ['hook.mjs', 'main.js']],
    ['npx vitest --config x.ts', ['x.ts', 'vitest.config.ts']],
    ['npx -y tsx tools/gen.ts', ['tools/gen.ts']],
    ['cargo test --manifest-path a/Cargo.toml', ['a/Cargo.toml']],
    ['./gradlew build', ['gradlew', 'build.gradle']],
    ['. ./env.sh', ['env.sh']],
    ['for d in a b; do make; done', ['Makefile']],
    ['npm test', ['.npmrc']],
    ['env -C web npm test', ['web/package.json']],
    ['env -Cweb npm test', ['web/package.json']],
    ['env --chdir=web npm test', ['web/package.json']],
    ["trap 'npm test' EXIT; cd web", ['web/package.json']],
    ['yarn build', ['.yarnrc.yml', '.pnp.cjs']],
    ['pnpm install', ['.pnpmfile.cjs', 'pnpm-workspace.yaml']],
    ['./node_modules/.bin/vitest run', ['node_modules/.bin/vitest', 'vitest.config.mts', 'vite.config.ts']],
    ['.venv/bin/pytest -q', ['.venv/bin/pytest', 'conftest.py', 'tests/conftest.py', 'setup.cfg']],
    ['.venv/bin/python3.11 -B -m pytest', ['conftest.py']],
    ['python3 -Bm tools.gen', ['tools/gen.py']],
    ['/opt/node/bin/npm test', ['package.json']],
    ['npx mocha', ['.mocharc.cjs', '.mocharc.yaml']],
    ['npm exec -- jest', ['jest.config.ts', '.babelrc']],
    ['uv run tools/gen.py', ['tools/gen.py', 'pyproject.toml']],
    ['uv run --with x gen.py', ['gen.py']],
    ['deno run -A tools/gen.ts', ['tools/gen.ts', 'deno.json']],
    ['bun run gen.ts', ['gen.ts', 'bunfig.toml']],
    ['node --run build', ['package.json']],
    ['git commit -m x', ['.husky/pre-commit']],
    ['poetry run pytest', ['conftest.py', 'poetry.toml']],
    ["watch 'make all'", ['Makefile']],
    ['flock x -c "sh build.sh"', ['build.sh']],
  ])('%s', (command, expected) => {
    const { named, sought, unclear } = scriptFiles(command);
    expect([...named, ...sought]).toEqual(expect.arrayContaining(expected));
    expect(unclear).toBeUndefined();
  });

  test('are looked for above a folder whose name begins with two dots as well', () => {
    expect(scriptFiles('npm test', '..x/y').sought).toEqual(
      expect.arrayContaining(['..x/package.json', 'package.json']),
    );
  });

  test('are looked for from the folder that the call names, and above it', () => {
    expect(scriptFiles('just all', 'web/app').sought.filter((file) => file.endsWith('.justfile'))).toEqual([
      'web/app/.justfile',
      'web/.justfile',
      '.justfile',
    ]);
  });

  test.each([
    'npm --prefix "$X" test',
    'cd "$X" && npm test',
    'make -f -',
    'make -f',
    'make $(cat targets)',
    'npm test -w web',
    'pnpm -r test',
    'ls | xargs make -f x.mk',
    'bash < build.sh',
    'python3 *.py',
    'npm --prefix= test',
    "make --eval='$(shell touch x)'",
    'pytest -p evil',
  ])('%s cannot be told', (command) => {
    expect(scriptFiles(command).unclear).toEqual(expect.any(String));
  });

  test.each([
    'ls -la',
    'git status',
    'git log -p',
    'echo npm test',
    'grep -r make .',
    '/usr/bin/ls',
    'cat package.json',
  ])('%s runs none', (command) => {
    expect(scriptFiles(command)).toEqual({ named: [], sought: [], unclear: undefined });
  });

  test('long and deep ones end soon', () => {
    expect(scriptFiles('make; '.repeat(5000)).sought.length).toBeLessThan(10);
    expect(scriptFiles('for i in 1 2 3; do npm test; cd a; done')).toMatchObject({
      sought: expect.arrayContaining(['a/a/package.json']),
      unclear: expect.any(String),
    });
    expect(scriptFiles(`${'cd a; '.repeat(5000)}make`).unclear).toEqual(expect.any(String));
  });
});
