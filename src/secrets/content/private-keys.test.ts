import { expect, test } from 'vitest';
import { createHider } from '../hide-secrets.ts';
import { hideInOutput } from '../output/hide-in-output.ts';
import { MAX_KEY_LENGTH, privateKeys } from './private-keys.ts';

const line = (at: number) => `${at}AbC9`.padEnd(64, 'xY7/');
const LINES = Array.from({ length: 12 }, (_, at) => line(at));
const BEGIN = '-----BEGIN RSA PRIVATE KEY-----';
const END = '-----END RSA PRIVATE KEY-----';
const KEY = [BEGIN, ...LINES, END];
const numbered = (sign: string) => KEY.map((each, at) => `${String(at + 8).padStart(6)}${sign}${each}`);

const WRITTEN = {
  'a diff': KEY.map((each) => `+${each}`),
  'a quote': KEY.map((each) => `> ${each}`),
  'a comment': KEY.map((each) => `# ${each}`),
  'a comment of code': KEY.map((each) => `    // ${each}`),
  'a block comment': KEY.map((each) => ` * ${each}`),
  'a search': KEY.map((each, at) => `HEAD:src/deploy/keys.txt:${at + 1}:${each}`),
  'a search with neighbours': KEY.map(
    (each, at) => `deploy/keys.txt${at === 0 ? ':' : '-'}${at}${at === 0 ? ':' : '-'}${each}`,
  ),
  'a search without numbers': KEY.map((each) => `deploy/keys.txt:${each}`),
  'numbered lines': numbered('\t'),
  'marked ends': KEY.map((each) => `${each}$`),
  'a web page': [KEY.join('<br>')],
  'lines of a web page': KEY.map((each) => `${each}<br/>`),
  entities: [KEY.join('&#10;')],
  'an address': [KEY.join('%0A')],
  strings: KEY.map((each) => `  '${each}\\n' +`),
  'Windows lines': KEY.map((each) => `${each}\r`),
  'with headers': [BEGIN, 'Proc-Type: 4,ENCRYPTED', 'DEK-Info: AES-128-CBC,00', '', ...LINES, END],
};

test.each(Object.entries(WRITTEN))('a key in %s is found as a whole', (_what, lines) => {
  const text = `before\n${lines.join('\n')}\nafter\n`;
  const [key, ...others] = [...privateKeys(text)];
  expect(others).toEqual([]);
  expect(text.slice(0, key?.start).trimEnd().split('\n').length).toBeLessThanOrEqual(2);
  expect(text.slice(key?.end)).toMatch(/^\W{0,8}(?:n' \+|br\/>)?\nafter\n$/);
  for (const shown of [hideInOutput(text), createHider().hide(text)])
    for (const each of LINES) expect(shown).not.toContain(each);
});

test('a key of 60 KB is found as a whole, also with signs before its lines', () => {
  const lines = Array.from({ length: 850 }, (_, at) => `+${line(at)}`);
  const text = `+${BEGIN}\n${lines.join('\n')}\n+${END}\nafter`;
  expect(text.length).toBeLessThan(MAX_KEY_LENGTH);
  const [key] = [...privateKeys(text)];
  expect(text.slice(key?.end)).toBe('\nafter');
});

test('a key whose end is cut off goes as far as its lines do', () => {
  for (const sign of ['', '+', '> ']) {
    const text = [BEGIN, ...LINES.slice(0, 3)].map((each) => `${sign}${each}`).join('\n');
    const [key] = [...privateKeys(`${text}\nand the rest of the output\n`)];
    expect(key?.end).toBe(text.length);
  }
});

test.each([
  `A key stands between ${BEGIN} and ${END}, in lines.`,
  `const BEGIN = '${BEGIN}';\nconst SUM = '${'0a1b2c3d'.repeat(8)}';\nconst END = '${END}';\n`,
  `${BEGIN}\n<your key>\n${END}`,
  `begin: '${BEGIN}'\nsha256: ${'0a1b2c3d'.repeat(8)}\n`,
])('a mention of the marks is none', (text) => {
  expect([...privateKeys(text)]).toEqual([]);
});

test.each([
  ['heads', `${BEGIN}\n`],
  ['heads with a body', `${BEGIN}\n${line(1)}\n`],
  ['ends', `${END}\n`],
  ['blanks', `${BEGIN}\n${' '.repeat(500)}\n`],
  ['paths', `${BEGIN}\n${'a-'.repeat(150)}\n`],
  ['breaks', `${BEGIN}${'\\n'.repeat(40)}`],
])('%s take no longer than their length asks for', (_what, piece) => {
  const before = process.cpuUsage();
  [...privateKeys(piece.repeat(Math.ceil(2_000_000 / piece.length)))].length;
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(6_000);
});
