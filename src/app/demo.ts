import { cpSync, existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ResultPart } from '../kernel/call/message.ts';
import type { Model, ModelRequest } from '../models/model.ts';
import { type ScriptedTurn, scriptedModel, sinceAsked, turnsSoFar } from '../models/scripted.ts';

export const DEMO_TASK = 'Analyse the review data of this project and write the efficiency report.';

const DATA = 'data/mock_gerrit_data.json';
const FIGURES = 'analysis.json';
const PAGE = 'docs/reviews.md';
const REPORT = 'reports/efficiency_report.md';

/**
 * The demonstration: a workflow over several tools with scripted decisions and real tools. Names of tools are those a
 * model would use.
 */
export function demoModel(): Model {
  return scriptedModel((request) => TURNS[turnsSoFar(request.messages)]?.(request));
}

const TURNS: readonly ((request: ModelRequest) => ScriptedTurn)[] = [
  () => ({
    text: 'I look at the data and at the skills that are there.',
    calls: [
      { name: 'read_file', args: { path: DATA } },
      { name: 'list_directory', args: { path: '.claude/skills' } },
    ],
  }),
  () => ({
    text: `The analysis skill computes the figures and brings ${PAGE} up to date; I keep what it prints.`,
    calls: [
      { name: 'bash', args: { command: `python3 .claude/skills/gerrit_analysis.py --page ${PAGE} | tee ${FIGURES}` } },
    ],
  }),
  () => ({ text: 'I read the figures back.', calls: [{ name: 'read_file', args: { path: FIGURES } }] }),
  () => ({
    text: 'Now the report.',
    calls: [{ name: 'bash', args: { command: 'python3 .claude/skills/generate_report.py' } }],
  }),
  () => ({ text: 'And I check what was written.', calls: [{ name: 'read_file', args: { path: REPORT } }] }),
  (request) => ({ text: summary(request) }),
];

/** Summarises the real results of the tools; a failed step is reported as failed. */
function summary({ messages }: ModelRequest): string {
  const results = sinceAsked(messages).flatMap((one) => (one.role === 'results' ? one.results : []));
  const failed = results.filter(({ isError }) => isError);
  const [first] = failed;
  if (first !== undefined) return `${failed.length} of ${results.length} calls failed, the first with: ${first.text}`;
  const lines = (results.at(-1) as ResultPart).text
    .split('\n')
    .filter((line) => /^\| (changes|merged|median)/.test(line));
  const figures = lines.map((line) => line.replaceAll('|', ' ').replace(/\s+/g, ' ').trim());
  return `The report is in ${REPORT}: ${figures.join('; ')}.`;
}

/** Returns whether the folder holds the files of the demonstration. */
export function isDemoWorkspace(folder: string): boolean {
  return existsSync(join(folder, DATA)) && existsSync(join(folder, '.claude/skills/gerrit_analysis.py'));
}

/** Copies the demo workspace to a temporary directory; returns undefined if the package does not contain it. */
export function copyDemoWorkspace(): string | undefined {
  // One folder up from a build, two from the sources.
  const places = ['../examples/demo-workspace', '../../examples/demo-workspace'];
  const source = places.map((place) => fileURLToPath(new URL(place, import.meta.url))).find(isDemoWorkspace);
  if (source === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-demo-'));
  cpSync(source, folder, { recursive: true });
  return folder;
}
