import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { crashRound, payingModel } from './agent-crash.ts';
import { compileProgram } from './compile-program.ts';

const program = compileProgram('test/faults/agent-program.ts');
afterAll(() => rmSync(dirname(dirname(dirname(program))), { recursive: true }));

// Every round is another process or two; `npm run bench -- agent` does a hundred.
const PLACES = [[1], [6], [12], [20], [2, 5], [18, 11]];

test.each(PLACES.map((places) => [places.join(' and '), places] as const))(
  'a run killed at place %s is taken up: nothing runs twice, every call has one answer, the history is legal',
  { timeout: 60_000 },
  async (_, places) => {
    await using model = await payingModel();
    const { kills, problems } = await crashRound(program, model, places);
    expect(problems).toEqual([]);
    expect(kills).toBeGreaterThan(0);
  },
);
