// An ordinary project in which the developer commands can run: its scripts do what such scripts do, and write where they write.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const BUILD = "import { mkdirSync, writeFileSync } from 'node:fs';\nmkdirSync('dist', { recursive: true });\n";
const SCRIPT = { build: 'node scripts/build.mjs', test: 'node --test' };

const FILES: Readonly<Record<string, string>> = {
  '.gitignore':
    'node_modules\ndist\nbuild\nout\ntarget\ngen\n*.log\n__pycache__\n*.pyc\n.venv\n.pytest_cache\n*.sqlite3\napp\n',
  '.env.example': 'API_KEY=\n',
  'README.md': '# Project\n',
  'CHANGELOG.md': '# Changelog\n',
  'package.json': `${JSON.stringify(
    {
      name: 'project',
      version: '1.0.0',
      type: 'module',
      scripts: {
        ...SCRIPT,
        'test:unit': SCRIPT.test,
        lint: 'node scripts/lint.mjs',
        dev: 'node scripts/serve.mjs',
        start: 'node scripts/serve.mjs',
      },
      dependencies: { 'left-pad': '^1.3.0' },
      workspaces: ['packages/*'],
    },
    null,
    2,
  )}\n`,
  'node_modules/left-pad/package.json': '{ "name": "left-pad", "version": "1.3.0" }\n',
  'packages/api/package.json': JSON.stringify({ name: 'api', version: '1.0.0', scripts: SCRIPT }),
  'packages/api/scripts/build.mjs': `${BUILD}writeFileSync('dist/api.js', '');\n`,
  'packages/web/package.json': JSON.stringify({ name: 'web', version: '1.0.0', scripts: SCRIPT }),
  'packages/web/scripts/build.mjs': `${BUILD}writeFileSync('dist/web.js', '');\n`,
  'scripts/build.mjs': `${BUILD}writeFileSync('dist/app.js', 'built');\n`,
  'scripts/build.sh': 'mkdir -p build && echo built >build/all\n',
  'scripts/deploy.sh': '#!/bin/sh\necho deployed\n',
  'scripts/lint.mjs':
    "import { readFileSync, writeFileSync } from 'node:fs';\nif (process.argv.includes('--fix'))\n  for (const file of ['src/a.ts', 'src/old.ts']) writeFileSync(file, readFileSync(file, 'utf8').replaceAll('var ', 'const '));\n",
  'scripts/serve.mjs': "console.log('listening');\n",
  'scripts/seed.ts': "console.log('seeded');\n",
  'scripts/gen.py': "import sys\nopen(sys.argv[sys.argv.index('--out') + 1], 'w').write('{}')\n",
  'manage.py': "open('db.sqlite3', 'a').write('migrated')\n",
  'src/index.ts': 'export const foo = 1;\n'.repeat(30),
  'src/main.ts': "import './index.ts';\n",
  'src/main.rs': 'fn main() {}\n#[test]\nfn holds() {}\n',
  'src/a.ts': 'var a = 1;\n',
  'src/old.ts': 'var old = 1;\n',
  'src/legacy.js': 'var legacy = 1;\n',
  'test/a.test.js': "import test from 'node:test';\ntest('holds', () => {});\n",
  'tests/test_api.py': 'def test_login():\n  assert True\n',
  'docs/guide.md': '# Guide\n',
  'templates/app/index.ts': 'export {};\n',
  'requirements.txt': '# none\nrequests\n',
  'data.csv': 'a,b\n1,2\n',
  'users.txt': 'b:1\na:2\n',
  'names.txt': 'b\na\n',
  'a.txt': 'a\n',
  'b.txt': 'b\n',
  'in.txt': 'in\n',
  'list.txt': 'a.txt\nb.txt\n',
  'stale.txt': 'a.txt\n',
  'token.txt': 'aGVsbG8=\n',
  'access.log': '1.2.3.4 GET /\n',
  'app.log': 'ERROR none\n',
  'build.log': 'built\n',
  'fix.diff': '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+fixed\n',
  'api.proto': 'syntax = "proto3";\n',
  'main.c': '#include <stdio.h>\nint main(void) { puts("c"); return 0; }\n',
  'main.go': 'package main\n\nfunc main() {}\n',
  'go.mod': 'module example.test/project\n',
  'Cargo.toml': '[package]\nname = "project"\nversion = "1.0.0"\nedition = "2021"\n',
  'CMakeLists.txt': 'cmake_minimum_required(VERSION 3.10)\nproject(project C)\nadd_executable(app main.c)\n',
  Makefile:
    'build/app: main.c\n\tmkdir -p build\n\tcc -o build/app main.c\ntest: build/app\n\t./build/app\nclean:\n\trm -rf build\nbuild: build/app\n.PHONY: test clean build\n',
  '.venv/bin/activate': 'VIRTUAL_ENV=.venv\n',
  'src/__pycache__/a.pyc': '',
  'dist/app.js': 'old\n',
  'dist/cli.js': "console.log('help');\n",
};

/** A branch with commits of its own, a main that went on, a stash, and changes that are in no commit. */
const HISTORY = `git init -q -b main && git config user.name Ana && git config user.email ana@example.test
git add -A && git commit -qm first
git branch feature && git switch -qc abc123 && echo picked >picked.txt && git add -A && git commit -qm picked
git switch -q main && echo more >>README.md && git commit -qam 'on main'
git switch -q feature && echo feature >>CHANGELOG.md && git commit -qam 'on feature'
echo stashed >>docs/guide.md && git stash -q`;

/** Changes that are in no commit, without which most commands about commits have nothing to do. */
const UNCOMMITTED =
  'echo "export const more = 2;" >>src/index.ts && git add src/index.ts && echo "// x" >>src/index.ts';

/** Commands that refuse to work beside changes that are in no commit. */
export const NEEDS_CLEAN = /^git (checkout main|merge|rebase|cherry-pick|stash pop)/;

export function makeProject(root: string, state: 'clean' | 'changed'): void {
  for (const [path, content] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  chmodSync(join(root, 'scripts/deploy.sh'), 0o644);
  const zip = "import zipfile\nzipfile.ZipFile('bundle.zip', 'w').writestr('in.txt', 'in')";
  execFileSync('python3', ['-c', zip], { cwd: root });
  execFileSync('bash', ['-ec', HISTORY], { cwd: root, stdio: 'ignore' });
  if (state === 'changed') execFileSync('bash', ['-ec', UNCOMMITTED], { cwd: root });
}

/** Whether commands whose program is not here, or not without a network, change what is there already: judged by hand. */
export const BY_HAND: Readonly<Record<string, boolean>> = {
  'npx tsc --noEmit': false,
  'npx tsc -p tsconfig.build.json': false,
  'npx vitest run src/foo.test.ts': false,
  'npx eslint . --fix': true,
  'npx prettier --write src': true,
  'npx biome check --write .': true,
  'for f in src/*.ts; do npx prettier --check "$f"; done': false,
  'git ls-files -m | xargs npx eslint': false,
  'pnpm -r build': false,
  'tsx scripts/seed.ts': false,
  'ruff check . --fix': true,
  'black src': true,
  'cargo build': false,
  'cargo build --release': false,
  'cargo test': false,
  'cargo clippy -- -D warnings': false,
  'go build ./...': false,
  'go test ./...': false,
  'gofmt -w main.go': true,
  'git checkout -b feature/login': true,
  'tree -L 2': false,
  'protoc --js_out=gen api.proto': false,
  'cmake -B build -S .': false,
  'cmake --build build': false,
  'mkdir build && cd build && cmake ..': false,
};
