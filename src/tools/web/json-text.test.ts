import { describe, expect, test } from 'vitest';
import { jsonText } from './json-text.ts';

describe('JSON for a reader', () => {
  test.each<[string, string, string]>([
    [
      'an object',
      '{"a":[1,{"b":null}],"c":"d"}',
      '{\n  "a": [\n    1,\n    {\n      "b": null\n    }\n  ],\n  "c": "d"\n}',
    ],
    ['what is empty', '{"a":[],"b":{ }, "c":[[]]}', '{\n  "a": [],\n  "b": {},\n  "c": [\n    []\n  ]\n}'],
    ['Gerrit’s prefix', ")]}'\n[1]\n", '[\n  1\n]'],
    ['a lone value', ' "a\\"b, [c]" ', '"a\\"b, [c]"'],
    ['what is no JSON', '{"a":1', '{"a":1'],
    ['nothing', '', ''],
  ])('indents %s', (_what, given, expected) => {
    expect(jsonText(given)).toBe(expected);
  });

  test('keeps every name and value as it was written', () => {
    const given = '{"id":12345678901234567890,"2":1,"1":-0,"e":1.0E+2,"t":0.10,"u":"\\u00e9\\/","same":1,"same":2}';
    expect(jsonText(given).replace(/\n\s*/g, '').replaceAll('": ', '":')).toBe(given);
  });

  test('leaves alone what would grow out of bounds', () => {
    const deep = '['.repeat(5000) + ']'.repeat(5000);
    expect(jsonText(deep)).toBe(deep);
    expect(jsonText(`["${'a'.repeat(3_000_000)}"]`)).toHaveLength(3_000_008);
  });
});
