import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { openToolPins } from './tool-pins.ts';

test('what another process has agreed to meanwhile stays agreed to, and nothing else does', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pins-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const open = () => openToolPins(join(folder, 'mcp-tools.json'), pino({ level: 'silent' }));
  const [first, second] = [open(), open()];
  first.keep('y', [['old', '1']]);
  second.keep('x', [['do', '1']]);
  second.keep('y', [['new', '2']]);
  first.keep('y', [['old', '3']]);
  const third = open();
  expect(third.known('x')).toEqual(new Map([['do', '1']]));
  expect(third.known('y')).toEqual(
    new Map([
      ['old', '3'],
      ['new', '2'],
    ]),
  );
  expect(third.known('z')).toBe(undefined);
});
