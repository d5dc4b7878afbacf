import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { writeEtc } from './etc-files.ts';

test('the inside gets what programs need of /etc, links as links, while others go on', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'etc-'));
  onTestFinished(() => rmSync(parent, { recursive: true }));
  const folder = join(parent, 'etc');
  let turns = 0;
  let turning = setImmediate(function turn() {
    turns++;
    turning = setImmediate(turn);
  });
  await writeEtc(folder, { uid: 1000, gid: 1000 });
  clearImmediate(turning);
  expect(turns).toBeGreaterThan(0);

  expect(readFileSync(join(folder, 'passwd'), 'utf8')).toContain('toolwright:x:1000:1000');
  expect(readdirSync(folder)).not.toContain('shadow');
  for (const name of ['nsswitch.conf', 'ld.so.cache'])
    expect(readFileSync(join(folder, name))).toEqual(readFileSync(`/etc/${name}`));
  const copied = readdirSync(join(folder, 'ssl/certs'));
  expect(copied.toSorted()).toEqual(readdirSync('/etc/ssl/certs').toSorted());
  const links = copied.filter((name) => lstatSync(`/etc/ssl/certs/${name}`).isSymbolicLink());
  expect(links.length).toBeGreaterThan(0);
  for (const name of links)
    expect(readlinkSync(join(folder, 'ssl/certs', name))).toBe(readlinkSync(`/etc/ssl/certs/${name}`));
});
