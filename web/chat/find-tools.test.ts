import { expect, test } from 'vitest';
import type { ToolView } from '../../src/protocol/tools.ts';
import { findTools } from './find-tools.ts';

const tools = ['read_file', 'srv__getImage'].map((name) => ({ name }) as ToolView);
const found = (text: string) => findTools(text, tools).map(({ name }) => name);

test('tools are found by a part of their name, in upper or lower case', () => {
  expect(found('/')).toEqual(['read_file', 'srv__getImage']);
  expect(found('/READ_f ')).toEqual(['read_file']);
  expect(found('/getimage')).toEqual(['srv__getImage']);
  expect(found('/getImage')).toEqual(['srv__getImage']);
});

test('a path or a plain text finds no tool', () => {
  expect(found('/etc/hosts: what is in it?')).toEqual([]);
  expect(found('read_file')).toEqual([]);
});
