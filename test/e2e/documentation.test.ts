import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { en } from '../../web/words/en.ts';
import { zh } from '../../web/words/zh.ts';

const root = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);
const written: string[] = [];
afterAll(() => {
  for (const file of written) rmSync(file, { force: true });
});

/** Runs a program as a user of the built package would: `toolwright` resolves to this repository's exports. */
async function runProgram(source: string): Promise<string> {
  const file = join(root, `.example-${process.pid}-${written.length}.mts`);
  written.push(file);
  writeFileSync(file, source);
  // Examples leave their folders to whoever runs them.
  const TMPDIR = mkdtempSync(join(tmpdir(), 'toolwright-example-'));
  const env = { ...process.env, TMPDIR };
  const ran = run(process.execPath, ['--import', 'tsx', file], { cwd: root, env });
  const { stdout } = await ran.finally(() => rmSync(TMPDIR, { recursive: true }));
  return stdout;
}

function read(page: string): string {
  return readFileSync(join(root, page), 'utf8');
}

function codeBlock(page: string, language: string): string {
  const block = new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(read(page));
  if (block?.[1] === undefined) throw new Error(`${page} has no ${language} block`);
  return block[1];
}

describe.each(['README.md', 'README.zh-CN.md'])('%s', (page) => {
  test('its library example runs and prints what it says', async () => {
    const output = await runProgram(codeBlock(page, 'ts'));
    const [first, second, ...rest] = output.split('\n');
    expect(first).toBe('3');
    expect(second).toBe('Error: Missing required parameter: b; Invalid type for a: expected number');
    expect(rest.join('')).toContain("name: 'divide'");
  });

  test('its commands are scripts', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const named = [...read(page).matchAll(/npm (?:run (?:-s )?)?(start|test|build|toolwright)\b/g)].map(
      ([, name]) => name,
    );
    expect(new Set(named)).toEqual(new Set(['start', 'test', 'build', 'toolwright']));
    for (const name of named) expect(scripts).toHaveProperty(name ?? '');
  });

  test('the buttons it names are those of the page', () => {
    const words = page === 'README.md' ? en : zh;
    expect(read(page)).toContain(`- **${words.firstDemo}**`);
    expect(read(page)).toContain(`- **${words.firstManual}**`);
  });
});

test('both READMEs have the same sections, links and commands, in the same order', () => {
  const [english, chinese] = ['README.md', 'README.zh-CN.md'].map((page) => ({
    levels: read(page).match(/^#+ |^- \*\*|^\| \[|^```\w*/gm),
    links: [...read(page).matchAll(/\]\(([^)]+)\)/g)]
      .map(([, link]) => link)
      .filter((link) => !link?.startsWith('README')),
    commands: [...read(page).matchAll(/^npm [^#"]*[^#" ]/gm)].map(([command]) => command),
  }));
  expect(chinese).toEqual(english);
});

test('docs/web.md: its example runs, and reaches nothing it should not', async () => {
  const output = await runProgram(codeBlock('docs/web.md', 'ts'));
  expect(output).toContain('169.254.169.254 is not on the public internet');
});

test('docs/commands.md: its example runs commands in the sandbox', async () => {
  const [first, ...rest] = (await runProgram(codeBlock('docs/commands.md', 'ts'))).split('\n');
  expect(first).toBe('42');
  expect(rest.join('\n')).toContain('/etc/shadow: No such file or directory');
  expect(rest.join('\n')).not.toContain('root:');
});

test('the tour runs to its end', async () => {
  const { stdout } = await run(process.execPath, ['--import', 'tsx', 'examples/tour.ts'], { cwd: root });
  expect(stdout).toContain('✓ 4 words, 23 characters');
  expect(stdout).toContain('src/hello.ts:2: // TODO: say more');
  expect(stdout).toContain('.env cannot be used');
  expect(stdout).not.toContain('do-not-read-me');
  expect(stdout).toContain('taken back: src/hello.ts');
  expect(stdout.trimEnd()).toMatch(/count_words +succeeded +[\d.]+ ms$/);
});

test('the durable example finds its earlier call when it runs again', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'toolwright-durable-'));
  const example = () => run(process.execPath, ['--import', 'tsx', 'examples/durable.ts', directory], { cwd: root });
  expect((await example()).stdout).toMatch(/^1 calls recorded/);
  expect((await example()).stdout).toMatch(/^2 calls recorded.*4 words, 28 characters\nThe log verifies\.$/m);
  rmSync(directory, { recursive: true });
});

test('every link in the docs leads somewhere, to a heading that is there', () => {
  const pages = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .filter((path) => !/node_modules|\.cache|demo-workspace/.test(path));
  const broken = pages.flatMap((page) => {
    const links = read(page).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?/g);
    return [...links]
      .filter(([, path = '', heading]) => {
        const target = path === '' ? page : join(dirname(page), path);
        return !existsSync(join(root, target)) || (heading !== undefined && !headingsOf(target).includes(heading));
      })
      .map(([link]) => `${page} → ${link}`);
  });
  expect(broken).toEqual([]);
});

/** As GitHub makes anchors of them. */
function headingsOf(page: string): string[] {
  const titles = [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, title]) => title ?? '');
  return titles.map((title) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test('docs/dependencies.md names every package, and none that is gone; every version is exact', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const packages: Record<string, string> = { ...dependencies, ...devDependencies };
  const [reasons] = readFileSync(join(root, 'docs/dependencies.md'), 'utf8').split('## What we write ourselves');
  const rows = reasons?.split('\n').filter((line) => line.startsWith('| `')) ?? [];
  const named = rows.flatMap((row) => [...(row.split(' | ')[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name));
  expect(new Set(named)).toEqual(new Set(Object.keys(packages)));
  for (const version of Object.values(packages)) expect(version).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
});

test('every source file that a README of a room or the architecture names is there', () => {
  const tree = ['src', 'web', 'test', 'bench', 'scripts'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  );
  const pages = [
    'docs/architecture.md',
    ...tree.filter((name) => name.startsWith('src/') && name.endsWith('README.md')),
  ];
  const isThere = (page: string, name: string) =>
    existsSync(join(root, dirname(page), name)) || tree.some((path) => path === name || path.endsWith(`/${name}`));
  const missing = pages.flatMap((page) =>
    [...read(page).matchAll(/`([\w./-]+\.tsx?)`/g)]
      .filter(([, name = '']) => !isThere(page, name))
      .map(([, name]) => `${page}: ${name}`),
  );
  expect(pages.length).toBeGreaterThan(20);
  expect(missing).toEqual([]);
});
