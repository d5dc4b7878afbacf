import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { pathFuzz } from '../test/faults/path-fuzz.ts';
import { atMost, type Benchmark, reported } from './benchmark.ts';

const CASES = 1_000_000;
const SEED = 20_261_115;

export const benchmark: Benchmark = {
  about: '1,000,000 generated paths over generated links, through every file operation.',
  async run() {
    const start = performance.now();
    const { cases, succeeded, escapes } = await pathFuzz(CASES, SEED, existsSync('/dev/shm') ? '/dev/shm' : tmpdir());
    for (const each of escapes) console.error(each);
    return [
      atMost(`escapes in ${cases} cases (seed ${SEED})`, escapes.length, 'escapes', 0),
      reported('cases that were carried out inside', succeeded, 'cases'),
      reported('time for one case', ((performance.now() - start) * 1000) / cases, 'µs'),
    ];
  },
};
