import { compareWithReality } from '../test/differential/compare.ts';
import { atMost, type Benchmark, reported } from './benchmark.ts';

const COUNT = 20_000;

export const benchmark: Benchmark = {
  about: `${COUNT} generated commands: those that would run unasked are run under strace, and what they did is compared with what the policy said.`,
  async run() {
    const seed = Date.now() % 1_000_000;
    const { ran, surprises } = await compareWithReality({ count: COUNT, seed, path: process.env['PATH'] ?? '' });
    for (const surprise of surprises.slice(0, 20)) console.error(`seed ${seed}: ${surprise}`);
    return [
      atMost('programs run, files touched or written that the policy had not said', surprises.length, 'cases', 0),
      reported('commands that would run unasked, and were run', ran, 'commands', COUNT),
    ];
  },
};
