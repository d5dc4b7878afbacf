// The way of one call through the source, for docs/architecture.md: measured, so that it shows all that runs.
import { MEASURED_CALLS, type MeasuredFile, measureCall } from './walk/measured-file.ts';
import { STEPS, type Step } from './walk/steps.ts';
import { isWithinTolerance, TOLERANCE } from './walk/tolerance.ts';

const MAX_MEASUREMENTS = 3;

/**
 * The text of the page stays as it is while its numbers are close to those measured now. On a busy machine a call may do
 * more than usual, so the text is out of date only when several measurements say so.
 */
export function walk(existing: string): string {
  for (let measurements = 1; ; measurements++) {
    const measured = describe(measureCall());
    if (isWithinTolerance(existing, measured)) return existing;
    if (measurements === MAX_MEASUREMENTS) return measured;
  }
}

function describe(files: readonly MeasuredFile[]): string {
  const { percent, least } = TOLERANCE;
  return [
    "The numbers are measured with V8's coverage: functions of `src/`, callbacks included, that run in each of",
    `${MEASURED_CALLS} such calls on a warm server, from the request to its 200, and their lines without those of inner functions that do`,
    `not run. \`npm run check\` accepts a difference of ${percent} %, or of ${least} where a number is small.`,
    '',
    folderTable(files),
    '',
    'The main steps in order, with the numbers of their files:',
    '',
    stepTable(files),
  ].join('\n');
}

function folderTable(files: readonly MeasuredFile[]): string {
  const folders = [...new Set(files.map(folderOf))].sort();
  const rows = folders.map((folder) => {
    const own = files.filter((file) => folderOf(file) === folder);
    return `| \`${folder}\` | ${own.length} | ${countFunctions(own)} | ${countLines(own)} |`;
  });
  return [
    '| folder | files | functions | lines |',
    '|---|---|---|---|',
    ...rows,
    `| **total** | **${files.length}** | **${countFunctions(files)}** | **${countLines(files)}** |`,
  ].join('\n');
}

function stepTable(files: readonly MeasuredFile[]): string {
  const ofSteps = STEPS.map((step) => fileOf(step, files));
  const rows = ofSteps.map((measured, at) => {
    const { functions = [], task } = STEPS[at] ?? {};
    const earlier = ofSteps.indexOf(measured);
    const numbers = earlier < at ? `as ${earlier + 1} | ` : `${measured.functions.length} | ${measured.lines}`;
    return `| ${at + 1} | \`${measured.file}\` | ${functions.map((name) => `\`${name}\``).join(' ')} | ${task} | ${numbers} |`;
  });
  const all = [...new Set(ofSteps)];
  return [
    '| # | file | main functions | task | functions | lines |',
    '|---|---|---|---|---|---|',
    ...rows,
    `| | **${all.length} files** | | | **${countFunctions(all)}** | **${countLines(all)}** |`,
  ].join('\n');
}

/** A step that did not run is a mistake in the list of steps, not a shorter walk. */
function fileOf({ functions }: Step, files: readonly MeasuredFile[]): MeasuredFile {
  const found = files.filter((file) => functions.every((name) => file.functions.includes(name)));
  const [file] = found;
  if (file !== undefined && found.length === 1) return file;
  const where = file === undefined ? 'no file' : found.map((each) => each.file).join(' and ');
  throw new Error(`${functions.join(', ')} ran together in ${where}: correct scripts/walk/steps.ts`);
}

function folderOf({ file }: MeasuredFile): string {
  return file.split('/').slice(0, 2).join('/');
}

function countFunctions(files: readonly MeasuredFile[]): number {
  return files.reduce((sum, { functions }) => sum + functions.length, 0);
}

function countLines(files: readonly MeasuredFile[]): number {
  return files.reduce((sum, { lines }) => sum + lines, 0);
}
