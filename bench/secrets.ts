import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findSecrets } from '../src/secrets/find-secrets.ts';
import { judgeCorpus } from '../test/secrets/judge-corpus.ts';
import { atMost, type Benchmark, median, reported, timesTheLimit } from './benchmark.ts';

const TEXT_LENGTH = 16_000_000;
const ROUNDS = 7;

export const benchmark: Benchmark = {
  about: 'What is a secret, by name and content: a made corpus of files, and the time that looking into a text takes.',
  async run() {
    const { secret, harmless, missed, refused } = judgeCorpus();
    const text = sourceText();
    const ours = processorTime(() => findSecrets(text));
    const limit = processorTime(() => countLines(text));
    return [
      atMost(`missed of ${secret} secret files`, (missed.length / secret) * 100, '%', 2),
      atMost(`refused of ${harmless} harmless files`, (refused.length / harmless) * 100, '%', 2),
      timesTheLimit('16 MB of source code, against looking at each character once', ours, limit, 'ms', 10),
      reported('speed', text.length / 1000 / ours, 'MB/s'),
    ];
  },
};

/** Our own code, without the tests, which hold secrets that are none. */
function sourceText(): string {
  const root = join(import.meta.dirname, '..', 'src');
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' });
  const sources = names.filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  const once = sources.map((name) => readFileSync(join(root, name), 'latin1')).join('\n');
  const whole = once.repeat(Math.ceil(TEXT_LENGTH / once.length)).slice(0, TEXT_LENGTH);
  return Buffer.from(whole, 'latin1').toString('latin1');
}

/** Median milliseconds of one processor: other programs on the machine do not count. */
function processorTime(work: () => unknown): number {
  const times = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return median(times);
}

function countLines(text: string): number {
  let lines = 0;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) === 10) lines++;
  return lines;
}
