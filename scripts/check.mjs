// `npm run check`: format, lint, types, import directions, tool names, house rules, dead code, generated docs. All at
// once; seconds.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { root } from './root.mjs';

const checks = [
  ['format and lint', 'biome', ['check', '--error-on-warnings', '--reporter=summary', '.']],
  ['types', 'tsc', ['--noEmit']],
  ['types of the page', 'tsc', ['--noEmit', '-p', 'web']],
  [
    'import directions',
    'depcruise',
    ['src', 'web', '--config', '.dependency-cruiser.cjs', '--output-type', 'json'],
    directions,
  ],
  ['tool names', 'tsx', ['scripts/tool-names.ts']],
  ['house rules', 'tsx', ['scripts/house-rules.ts']],
  ['dead code', 'knip', ['--no-progress']],
  ['package', 'publint', ['--strict']],
  ['generated docs', 'tsx', ['scripts/docs.ts', '--check']],
];

// The examples are checked against the built package, as a user would.
build();
const started = performance.now();
const outcomes = await Promise.all(checks.map(run));
for (const { name, summary, problem } of outcomes) {
  console.log(problem === undefined ? `✓ ${summary}` : `✗ ${name}\n${problem}`);
}
console.log(`${((performance.now() - started) / 1000).toFixed(1)} s`);
process.exit(outcomes.every(({ problem }) => problem === undefined) ? 0 : 1);

async function run([name, command, args, judge = byExitCode]) {
  const child = spawn(join(root, 'node_modules', '.bin', command), args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'])
    child[stream].setEncoding('utf8').on('data', (text) => (output[stream] += text));
  const code = await new Promise((done) => child.on('close', done));
  // A check that counts has one line of its own: "house rules: 12 known, 0 new".
  const summary = output.stdout.split('\n').find((line) => line.startsWith(`${name}: `)) ?? name;
  return { name, summary, problem: judge(code, output) };
}

function byExitCode(code, { stdout, stderr }) {
  return code === 0 ? undefined : `${stdout}${stderr}`;
}

/** A cruise that cannot read TypeScript reports no violation either, so the number of files it saw is checked too. */
function directions(_code, { stdout, stderr }) {
  const { summary, modules } = parse(stdout) ?? {};
  if (summary === undefined) return `dependency-cruiser gave no report.\n${stdout.slice(0, 500)}${stderr}`;
  const sources = readdirSync(join(root, 'src'), { recursive: true }).filter((file) => file.endsWith('.ts'));
  const seen = modules.filter(({ source }) => source.startsWith('src/')).length;
  if (seen < sources.length) return `dependency-cruiser saw ${seen} of ${sources.length} files in src/.`;
  const problems = summary.violations.filter(({ rule }) => rule.severity === 'error');
  const comment = (name) => summary.ruleSetUsed?.forbidden?.find((rule) => rule.name === name)?.comment ?? '';
  const lines = problems.map(({ from, to, rule }) => `  ${from} → ${to}\n    ${rule.name}: ${comment(rule.name)}`);
  return problems.length === 0 ? undefined : lines.join('\n');
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
