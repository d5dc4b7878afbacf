import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { allowedNames, rejectForeign } from './guard.ts';

const PLACE = { scheme: 'http', host: '127.0.0.1', port: 8665, publicUrl: undefined } as const;

/** Returns the status of the rejection; undefined when the request may come in. */
function answerTo(place: Parameters<typeof allowedNames>[0], host: string, origin?: string): number | undefined {
  const request = new IncomingMessage(new Socket());
  request.url = '/v1/health';
  request.rawHeaders = ['Host', host];
  request.headers = { host, ...(origin !== undefined && { origin }) };
  return rejectForeign(request, allowedNames(place))?.status;
}

test.each([
  ['http', 80],
  ['https', 443],
] as const)('on the usual port of %s a client may leave the port out, as browsers do', (scheme, port) => {
  const place = { ...PLACE, scheme, host: 'tools.example.org', port };
  for (const name of ['tools.example.org', 'localhost', '127.0.0.1', '[::1]']) {
    expect([name, answerTo(place, name, `${scheme}://${name}`)]).toEqual([name, undefined]);
    expect([name, answerTo(place, `${name}:${port}`)]).toEqual([name, undefined]);
    expect([name, answerTo(place, `${name}:8665`)]).toEqual([name, 421]);
  }
  expect(answerTo(place, 'tools.example.org', `${scheme === 'http' ? 'https' : 'http'}://tools.example.org`)).toBe(403);
});

test('on another port the port belongs to the name', () => {
  expect(answerTo(PLACE, '127.0.0.1:8665', 'http://127.0.0.1:8665')).toBeUndefined();
  expect(answerTo(PLACE, '127.0.0.1')).toBe(421);
  expect(answerTo(PLACE, '127.0.0.1:8665', 'http://127.0.0.1')).toBe(403);
});

test('a host that is configured with capitals, or for one link, is found', () => {
  const capitals = { ...PLACE, host: 'Tools.Example.org' };
  for (const name of ['tools.example.org', 'Tools.Example.org'])
    expect(answerTo(capitals, `${name}:8665`, 'http://tools.example.org:8665')).toBeUndefined();
  expect(answerTo({ ...PLACE, host: 'FE80::1%eth0' }, '[fe80::1]:8665')).toBeUndefined();
  expect(answerTo({ ...PLACE, host: '::' }, '[::]:8665')).toBe(421);
});

test('a public address with a slash at its end is found', () => {
  const place = { ...PLACE, publicUrl: 'https://Tools.example.org/' };
  expect(answerTo(place, 'tools.example.org', 'https://tools.example.org')).toBeUndefined();
});
