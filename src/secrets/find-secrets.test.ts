// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of settings are what these files are about.
import { expect, test } from 'vitest';
import { findSecrets } from './find-secrets.ts';
import { secretIn } from './secret-in-file.ts';

const VALUE = 'q7Tz'.concat('9bLw2'.repeat(2), 'Kd3Xv8Rm');
const BODY = `${VALUE}${VALUE}`;
const names = (text: string) => findSecrets(text).map(({ name }) => name);

test.each([
  ['private key', `-----BEGIN RSA PRIVATE KEY-----\n${BODY}\n-----END RSA PRIVATE KEY-----`],
  ['private key', JSON.stringify({ private_key: `-----BEGIN PRIVATE KEY-----\n${BODY}\n-----END PRIVATE KEY-----\n` })],
  ['GitHub token', `see ghp_${VALUE}`],
  ['connection string', `url: postgres://app:${VALUE}@db/main`],
  ['secret value', `//registry.npmjs.org/:_authToken=${VALUE}`],
  ['secret value', `"client_secret" : "${VALUE}"`],
  ['password', 'DB_PASSWORD=Tulip7!x'],
  ['secret value', `"Authorization": "Bearer ${VALUE}"`],
  ['password', 'curl -T a.tgz -u ana:Tulip7!x https://host.org'],
  ['secret value', `<add key="ApiSecret" value="${VALUE}"/>`],
])('a %s is found, with its place', (name, text) => {
  const found = findSecrets(`a\n${text}\nb`);
  expect(found.map((each) => each.name)).toContain(name);
  for (const { start, end } of found) expect(start >= 2 && end > start && end <= text.length + 3).toBe(true);
});

test.each([
  'DB_PASSWORD=changeme',
  'password: ${DB_PASSWORD}',
  'token = <token>',
  'apiKey: process.env.API_KEY',
  'secret: xxxxxxxxxxxxxxxx',
  'A key begins with -----BEGIN PRIVATE KEY-----, and then …',
  'postgres://user:password@localhost/a',
])('%s holds none', (text) => {
  expect(names(text)).toEqual([]);
});

test('a short password counts in settings, and not in source code or in an example', () => {
  const bytes = Buffer.from('password = "Tulip7!x"\n');
  expect(secretIn('app.ini', bytes)?.name).toBe('password');
  for (const path of ['app.ts', 'app.example.ini', 'locales/de/app.json'])
    expect(secretIn(path, bytes)).toBeUndefined();
});

test('a wide text is looked into as well', () => {
  expect(secretIn('a.txt', Buffer.from(`\ufeffuse ghp_${VALUE}`, 'utf16le'))?.name).toBe('GitHub token');
});

test.each([
  ['heads of keys', '-----BEGIN PRIVATE KEY-----'.repeat(40_000)],
  ['telling names', 'password='.repeat(100_000)],
  ['open quotes', `password="${'a'.repeat(390)}`.repeat(2_500)],
  ['runs', `${'a1'.repeat(9)} `.repeat(50_000)],
  ['one run', 'a1'.repeat(500_000)],
  ['addresses', '://a:'.repeat(200_000)],
  ['headers', 'Authorization: Bearer '.repeat(50_000)],
  ['words of curl', 'curl -u a'.repeat(100_000)],
  ['settings in XML', '<add key="ApiSecret" value="'.repeat(40_000)],
  ['sets of keys', '"kty" "d":'.repeat(100_000)],
])('%s take no longer than their length asks for', (_what, text) => {
  const started = performance.now();
  findSecrets(text);
  expect(performance.now() - started).toBeLessThan(10_000);
});
