import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const CROWDED = 'export function crowded(a: string, b: string, c: string, d: string) { return a + b + c + d; }\n';

describe('the house rules', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'house-rules-'));
    write('src/shop/README.md', 'A shop.\n');
    write('src/shop/crowded.ts', CROWDED);
    write('scripts/house-rules.json', JSON.stringify({ parameters: { 'src/shop/crowded.ts crowded': 4 } }));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test('pass while every violation is on the list; tests, strings, callbacks and the Chinese page are none', () => {
    write('src/shop/crowded.test.ts', CROWDED);
    write(
      'src/shop/sell.ts',
      "export const price = '// What it costs';\n[1].map((a: number, b, c, d?: boolean) => d);",
    );
    write('README.zh-CN.md', '\u00ab\u00bb');
    expect(run()).toEqual({ status: 0, lines: ['house rules: 1 known, 0 new'] });
  });

  test('say the rule, the place and the next step of each violation that is not on the list', () => {
    write('src/shop/open-shop.ts', 'export class Shop {\n  open(early: boolean) {\n    return early;\n  }\n}\n');
    write('src/shop/lend.ts', 'export function lend(fast = false) { return fast; }');
    write('src/shop/sell.ts', 'export const sell = (a: 1, b: 2, c: 3, d: 4) => [a, b, c, d];');
    write('src/shop/count.ts', `export function count() {\n${'  void 0;\n'.repeat(120)}}`);
    write('src/shop/what-is-sold.ts', 'export const price = 1;');
    write('src/shop/price.ts', 'export interface Given { price: number }');
    write('src/market/price.ts', '/**\n * What it\n * costs.\n */\nexport const price = 1;');
    write('test/price.test.ts', '// A price. What it costs.\n');
    write('src/shop/label.ts', "export const label = '\u00abShop\u00bb';");
    write('docs/shop.md', 'The \u00abshop\u00bb.');
    for (let at = 0; at < 22; at++) write(`src/shop/goods-${at}.ts`, at < 3 ? 'export type Goods = string;' : '');
    const { status, lines } = run();
    expect(status).toBe(1);
    expect(lines).toContain('  has a boolean positional parameter: make it a named option or two functions.');
    expect(lines.filter((line) => !line.startsWith(' ')).sort()).toEqual([
      'boolean parameter: src/shop/lend.ts lend(fast)',
      'boolean parameter: src/shop/open-shop.ts Shop.open(early)',
      'comment begins with What: src/market/price.ts',
      'comment begins with What: test/price.test.ts',
      'file name: src/shop/what-is-sold.ts',
      'folder size: src/shop',
      'function length: src/shop/count.ts count',
      'guillemets: docs/shop.md',
      'guillemets: src/shop/label.ts',
      'house rules: 1 known, 13 new',
      'missing readme: src/market',
      'parameters: src/shop/sell.ts sell',
      'repeated type name: Goods',
      'type name: src/shop/price.ts Given',
    ]);
  });

  test('fail when a known violation grows', () => {
    write('src/shop/crowded.ts', CROWDED.replace('d: string', 'd: string, e: string'));
    expect(run().lines[1]).toContain('It grew from 4 to 5.');
  });

  test('fail on an entry that is mended, and --shrink takes it out without adding any', () => {
    write('src/shop/crowded.ts', CROWDED.replace('crowded', 'full'));
    const [added, , mended, step] = run().lines;
    expect([added, mended]).toEqual([
      'parameters: src/shop/crowded.ts full',
      'parameters: src/shop/crowded.ts crowded',
    ]);
    expect(step).toContain('the list may only shrink');
    expect(run('--shrink').lines.at(-1)).toBe('house rules: 0 known, 1 new');
    expect(readFileSync(join(folder, 'scripts/house-rules.json'), 'utf8')).toBe('{}\n');
  });

  test('--init writes the list where there is none, and no second time', () => {
    expect(run('--init').status).toBe(2);
    rmSync(join(folder, 'scripts/house-rules.json'));
    expect(run('--init')).toEqual({ status: 0, lines: ['house rules: 1 known, 0 new'] });
  });

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }

  function run(...args: string[]): { status: number | null; lines: string[] } {
    const program = [join(ROOT, 'scripts/house-rules.ts'), ...args];
    const { status, stdout } = spawnSync(join(ROOT, 'node_modules/.bin/tsx'), program, {
      cwd: folder,
      encoding: 'utf8',
    });
    return { status, lines: stdout.trimEnd().split('\n') };
  }
});
