import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';

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
  const { stdout } = await run(process.execPath, ['--import', 'tsx', file], { cwd: root });
  return stdout;
}

function codeBlock(page: string, language: string): string {
  const text = readFileSync(join(root, page), 'utf8');
  const block = new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(text);
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
    for (const [, name] of codeBlock(page, 'sh').matchAll(/^npm (\S+)/gm)) expect(scripts).toHaveProperty(name ?? '');
  });
});

test('docs/web.md: its example runs, and reaches nothing it should not', async () => {
  const output = await runProgram(codeBlock('docs/web.md', 'ts'));
  expect(output).toContain('169.254.169.254 is not on the public internet');
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

test('every link in the docs leads somewhere', () => {
  const pages = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .filter((path) => !/node_modules|\.cache|demo-workspace/.test(path));
  const broken = pages.flatMap((page) => {
    const links = readFileSync(join(root, page), 'utf8').matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g);
    return [...links]
      .filter(([, link]) => !existsSync(join(root, dirname(page), link ?? '')))
      .map(([, link]) => `${page} → ${link}`);
  });
  expect(broken).toEqual([]);
});

test('docs/dependencies.md names every package, and none that is gone; every version is exact', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const packages: Record<string, string> = { ...dependencies, ...devDependencies };
  const [reasons] = readFileSync(join(root, 'docs/dependencies.md'), 'utf8').split('## What we write ourselves');
  const rows = reasons?.split('\n').filter((line) => line.startsWith('| `')) ?? [];
  const named = rows.flatMap((row) => [...(row.split(' | ')[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name));
  expect(new Set(named)).toEqual(new Set(Object.keys(packages)));
  for (const version of Object.values(packages)) expect(version).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
});
