import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { createOutputFilter, hideInOutput } from './hide-in-output.ts';

const VALUE = 'Kr7-pq92-Xv41-mm08';
const TOKEN = `ghp_${'a1B2'.repeat(9)}`;
const BODY = Array.from({ length: 20 }, (_, line) => `${line}AbC9`.padEnd(64, 'xY7/')).join('\n');
const KEY = `-----BEGIN OPENSSH PRIVATE KEY-----\n${BODY}\n-----END OPENSSH PRIVATE KEY-----`;
const VALUES = new Map([[VALUE, '.env']]);

const digest = (secret: string) => hash('sha256', secret, 'hex').slice(0, 8);
const mark = (name: string, secret: string) => `[secret: ${name}, sha256:${digest(secret)}]`;

function printed(pieces: readonly string[], values = VALUES): string {
  const filter = createOutputFilter(values);
  const parts = [...pieces.map((piece) => filter.add('stdout', Buffer.from(piece))), filter.end('stdout')];
  return Buffer.concat(parts).toString();
}

test.each([
  ['a token', TOKEN, mark('GitHub token', TOKEN)],
  ['a private key', KEY, mark('private key', KEY)],
  ['a value of a sensitive file', VALUE, mark('value of .env', VALUE)],
])('%s is replaced by its kind and digest, wherever the output is cut', (_what, secret, shown) => {
  const text = `before ${secret} after\nnext line\n`;
  for (let at = 0; at <= text.length; at++)
    expect(printed([text.slice(0, at), text.slice(at)])).toBe(`before ${shown} after\nnext line\n`);
  expect(printed([...text])).toBe(`before ${shown} after\nnext line\n`);
});

test.each([
  ['the password of a remote', 'url = https://ana:s3cret-word@host.org/x.git', 's3cret-word'],
  ['a line of an old .env', '+DB_PASSWORD=9fKq27Lm', '9fKq27Lm'],
  ['a value in base64', Buffer.from(`PIN=${VALUE};`).toString('base64'), Buffer.from(VALUE).toString('base64')],
  ['a value in hex', Buffer.from(VALUE).toString('hex'), Buffer.from(VALUE).toString('hex')],
  ['a coloured token', TOKEN.replace('B2a', 'B\u001b[31m2\u001b[0ma'), 'a1B2a1B2'],
  ['a token with a control in it', TOKEN.replace('B2a', 'B\u00002\u0085a'), 'a1B2a1B2'],
  ['a diff of a key', KEY.replaceAll(/^/gm, '+'), 'AbC9'],
])('%s is not shown', (_what, text, secret) => {
  const shown = hideInOutput(`one\n${text}\ntwo ünï\n`, VALUES);
  expect(shown).toMatch(/^one\n.*\[secret: [^\]]+, sha256:[0-9a-f]{8}\].*\ntwo ünï\n$/s);
  expect(shown).not.toContain(secret);
});

test('ordinary output stays as it is, byte by byte', () => {
  for (const text of [
    'const password = readPassword();\nexport TOKEN=$TOKEN\npassword: string;\n',
    'max_tokens: 100\nsha256:0123456789abcdef0123456789abcdef\nauth: ./src/auth2/handler.ts\n',
    'https://host.org:8080/a@b\ncommit 6e001b0f2d41b2c0a1f3e5d7c9b8a7f6e5d4c3b2\n',
    "if (line.startsWith('-----BEGIN RSA PRIVATE KEY-----')) skip();\nthe rest\n",
    '\u001b[32mgrün\u001b[0m ✓\r\n',
  ])
    expect(hideInOutput(text, VALUES)).toBe(text);
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  expect(Buffer.from(createOutputFilter().part(bytes))).toEqual(bytes);
});

test('a prompt is passed on at once, a line only when it is whole', () => {
  const filter = createOutputFilter(VALUES);
  const add = (text: string) => Buffer.from(filter.add('stdout', Buffer.from(text))).toString();
  expect(add('Password: ')).toBe('Password: ');
  expect(add(VALUE)).toBe('');
  expect(add('\nnext')).toBe(`${mark('value of .env', VALUE)}\n`);
  expect(Buffer.from(filter.end('stdout')).toString()).toBe('next');
});

test('its streams are apart', () => {
  const filter = createOutputFilter(VALUES);
  const out = [filter.add('stdout', Buffer.from(VALUE.slice(0, 9)))];
  const error = [filter.add('stderr', Buffer.from(`${VALUE}\n`))];
  out.push(filter.add('stdout', Buffer.from(`${VALUE.slice(9)}\n`)));
  expect(Buffer.concat(out).toString()).toBe(`${mark('value of .env', VALUE)}\n`);
  expect(Buffer.concat(error).toString()).toBe(`${mark('value of .env', VALUE)}\n`);
});

test('its note tells how many secrets were replaced, and of which kinds', () => {
  const filter = createOutputFilter(VALUES);
  expect(filter.note()).toBeNull();
  filter.part(Buffer.from(`${TOKEN} ${VALUE} ${TOKEN}\n`));
  expect(filter.note()).toBe('2 secrets in the output were replaced (GitHub token, value of .env).');
});

test('hostile output takes time linear in it', () => {
  const values = new Map(Array.from({ length: 2000 }, (_, at) => [`aaaaaaaa${at}`, '.env']));
  for (const piece of [
    'a',
    '-----BEGIN ',
    '-----BEGIN PRIVATE KEY-----\n',
    'token=',
    'eyJ',
    '://a:',
    '\u001b[',
    'sk-',
    '--\n',
  ]) {
    const filter = createOutputFilter(values);
    const before = process.cpuUsage();
    for (let written = 0; written < 2_000_000; written += 65_536)
      filter.add('stdout', Buffer.from(piece.repeat(65_536 / piece.length)));
    filter.end('stdout');
    const { user, system } = process.cpuUsage(before);
    expect([piece, (user + system) / 1000 < 8_000]).toEqual([piece, true]);
  }
});
