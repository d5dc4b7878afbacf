// `npm run bench [-- NAME] [--json] [--write]`: runs one benchmark or all, and says plainly which goals were missed.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { build } from '../scripts/build.mjs';
import { readOptions } from '../scripts/options.ts';
import type { Benchmark, Measurement } from './benchmark.ts';

const PAGE = join(import.meta.dirname, '..', 'docs', 'benchmarks.md');
const { values: options, positionals } = readOptions({
  allowPositionals: true,
  options: { json: { type: 'boolean' }, write: { type: 'boolean' } },
});
const known = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.replace(/\.ts$/, ''))
  .filter((name) => !['main', 'benchmark'].includes(name));
const wanted = positionals.length > 0 ? positionals : known;
const unknown = wanted.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`There is no benchmark ${unknown.join(', ')}. Known: ${known.join(', ')}.`);
  process.exit(1);
}

build();
if (!options.json) console.log(`${machine()}\n`);
for (const name of wanted) {
  const { benchmark }: { benchmark: Benchmark } = await import(`./${name}.ts`);
  if (!options.json) console.log(`${name}: ${benchmark.about}`);
  const results = await benchmark.run();
  if (options.json) console.log(JSON.stringify({ name, results: results.map(published) }));
  else console.log(`\n${table(results)}\n`);
  if (options.write) writeSection(name, `${benchmark.about}\n\n${machine()}\n\n${table(results)}`);
}
// Peers may leave timers and servers behind, so the process ends here.
process.exit(0);

function published({ what, ours, peer, ratio, goal, met }: Measurement) {
  return { what, ours, peer, ratio, goal, met };
}

function table(results: readonly Measurement[]): string {
  const rows = results.map(({ what, ours, peer, unit, ratio, goal, met }) => {
    const verdict = goal === '' ? 'reported' : met ? 'met' : 'MISSED';
    const against = peer === null ? '–' : figure(peer, unit);
    return `| ${[what, figure(ours, unit), against, ratio === null ? '–' : round(ratio), goal || '–', verdict].join(' | ')} |`;
  });
  return ['| what | ours | peer or limit | ratio | goal | |', '|---|---|---|---|---|---|', ...rows].join('\n');
}

function figure(value: number, unit: string): string {
  return `${round(value)} ${unit}`;
}

function round(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

/** Replaces the table of one benchmark in its section of docs/benchmarks.md. Text under headings of its own stays. */
function writeSection(name: string, content: string): void {
  const [head = '', ...sections] = readFileSync(PAGE, 'utf8').split(/^(?=## )/m);
  const isOurs = (section: string) => section.startsWith(`## ${name}\n`);
  const [, ...byHand] = sections.find(isOurs)?.split(/^(?=### )/m) ?? [];
  const ours = [`## ${name}\n\n${content.trim()}\n\n`, ...byHand].join('');
  const all = [...sections.filter((section) => !isOurs(section)), ours].sort();
  writeFileSync(PAGE, `${head}${all.map((section) => `${section.trimEnd()}\n\n`).join('')}`.trimEnd().concat('\n'));
}

function machine(): string {
  const [{ model = 'unknown processor' } = {}, ...rest] = cpus();
  return `${model.trim()}, ${rest.length + 1} cores, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}`;
}
