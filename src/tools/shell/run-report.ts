import { constants } from 'node:os';
import { z } from 'zod';
import type { ErrorCode, Failure } from '../../kernel/error.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { truncate } from '../../kernel/text/truncate.ts';
import { type KeptChanges, keptChanges } from '../../kernel/tool/kept-changes.ts';
import type { Attachment, Rehearsal, ToolContext } from '../../kernel/tool/tool.ts';
import type { ViewBlock } from '../../kernel/tool/view.ts';
import type { CommandRequest, CommandResult } from '../../kernel/world/commands.ts';
import type { CapturedStream, RunResult } from '../../kernel/world/sandbox.ts';
import { changesLine } from '../changes/changes-line.ts';
import { stageHints } from './stage-hints.ts';
import { lastQuestion, plainText } from './terminal-text.ts';
import { readOnlyRehearsal, wantsToWrite } from './wants-to-write.ts';

/** Characters of output for the model; the rest is stored. */
const MODEL_CHARACTERS = 10_000;
/** Characters of each stream for programs. */
const STREAM_CHARACTERS = 50_000;
/** Room for the lines after the output. */
const FOOTER = 1_000;
const MAX_PATHS = 20;

export const runReport = z.object({
  stdout: z.string(),
  stderr: z.string(),
  exitCode: z.int().nullable(),
  signal: z.string().nullable(),
  /** Milliseconds. */
  duration: z.number(),
  /** Null where nothing was staged. */
  changed: keptChanges.nullable(),
  /** Information besides the output. */
  notes: z.array(z.string()),
  /** Both streams in order, as the model reads them; `artifact` has the whole output where this is a part. */
  output: z.string(),
  artifact: z.string().optional(),
});
export type RunReport = z.output<typeof runReport>;

/**
 * Runs a command, keeps its changes or has a person decide about them, then converts the run to a result. A run that was
 * stopped or that a signal ended is a failure with its output; a non-zero exit code is not a failure. A run that could only
 * read and was refused a write is repeated on the real files if a person agrees.
 */
export async function runAndReport(request: CommandRequest, ctx: ToolContext): Promise<Result<RunReport>> {
  const ran = await ctx.commands.run({ ...request, ...progressOf(ctx) });
  if (!ran.ok) return ran;
  if (request.writes !== 'nothing' || !wantsToWrite(ran.value)) return keepAndReport(ran.value, ctx);
  const again = await ctx.runLive();
  if (again === null) return keepAndReport(ran.value, ctx);
  if (again.ok || hasRun(again.error)) {
    ran.value.output.log.dispose();
    return again as Result<RunReport>;
  }
  const note = `It could only read, and wanted to write. It was not run on the real files: ${again.error.message}`;
  return keepAndReport({ ...ran.value, notes: [...ran.value.notes, note] }, ctx);
}

function progressOf(ctx: ToolContext): Pick<CommandRequest, 'onOutput' | 'onWait'> {
  return {
    onOutput: (text) => ctx.progress({ output: plainText(text) }),
    onWait: (message) => ctx.progress({ message }),
  };
}

async function keepAndReport(run: CommandResult, ctx: ToolContext): Promise<Result<RunReport>> {
  const kept = run.stage === null ? null : await ctx.keep(run.stage);
  const value = await reportOf(run, kept, ctx);
  const stored = value.artifact !== undefined && { artifact: value.artifact };
  const failure = failureOf(run);
  if (failure === undefined) return ok(value, { sandbox: run.sandbox, ...stored });
  const { code, why, ...ended } = failure;
  const { stdout, stderr, signal, duration, changed, notes } = value;
  const shown = value.output === '' ? 'It printed nothing.' : `Its output until then:\n${value.output}`;
  const phase = code === 'CANCELLED' && { phase: 'interrupted' };
  const details = { ...ended, ...phase, signal, duration, stdout: end(stdout), stderr: end(stderr) };
  const message = [why, ...notes, ...changesLine(changed), shown].join('\n');
  return { ...fail(code, message, details), ...(stored && { metadata: stored }) };
}

/**
 * Runs a command for a dry run: staged, without network, and its changes are left to the runtime, which shows and discards
 * them. A command that was granted the real files is not run.
 */
export async function rehearseCommand(request: CommandRequest, ctx: ToolContext): Promise<Result<Rehearsal>> {
  const { network, ...offline } = request;
  if (request.writes === 'workspace') return ok({ text: NOT_TRIED, stage: null });
  const ran = await ctx.commands.run(offline);
  if (!ran.ok) return ran;
  const { stage, endMessage } = ran.value;
  const wants = wantsToWrite(ran.value) ? 'writes' : 'reads';
  const report = await reportOf(ran.value, null, ctx);
  if (request.writes === 'nothing') return ok(readOnlyRehearsal(renderReport(report), wants));
  const remarks = [
    ...(endMessage === null ? [] : [`[${endMessage}]`]),
    ...(network === undefined ? [] : ['[Tried without the network, which a real run would have.]']),
    ...(stage === null ? ['It would change no file.'] : []),
  ];
  return ok({ text: [`It was tried, and nothing is kept:\n${renderReport(report)}`, ...remarks].join('\n'), stage });
}

const NOT_TRIED = 'It was not tried: nothing here can show its changes before they are made.';

/** Whether a failure is that of a run, and not of the question about it. */
function hasRun({ details }: Failure): boolean {
  return details?.['duration'] !== undefined;
}

interface RunFailure {
  readonly code: ErrorCode;
  readonly why: string;
  readonly endedBy: RunResult['endedBy'];
  readonly exitCode: number | null;
}

/** Returns why a run is a failure: it was stopped, or a signal ended it. Undefined for one that ended by itself. */
function failureOf({ endedBy, endMessage, exitCode, signal }: RunResult): RunFailure | undefined {
  if (endedBy !== null && endMessage !== null)
    return { code: CODE_OF[endedBy] ?? 'EXECUTION_ERROR', why: endMessage, endedBy, exitCode };
  if (signal === null) return undefined;
  const coded = signalExitCode(signal);
  const why = `The program was ended by the signal ${signal}${coded === null ? '' : ` (exit code ${coded})`}.`;
  return { code: 'EXECUTION_ERROR', why, endedBy, exitCode: coded };
}

/** The exit code by which shells report a signal. */
function signalExitCode(signal: string): number | null {
  const number = Object.entries(constants.signals).find(([name]) => name === signal)?.[1];
  return number === undefined ? null : 128 + number;
}

const CODE_OF: Partial<Record<string, ErrorCode>> = { time: 'TIMEOUT', cancel: 'CANCELLED', closed: 'CANCELLED' };

async function reportOf(run: RunResult, kept: KeptChanges | null, ctx: ToolContext): Promise<RunReport> {
  const { output, exitCode, signal } = run;
  const whole = inOrder(output.log.pieces(), output);
  output.log.dispose();
  const room = Math.min(MODEL_CHARACTERS, ctx.maxOutputSize) - Math.min(FOOTER, Math.floor(ctx.maxOutputSize / 2));
  const artifact = whole.length > room ? await keep(whole, ctx) : undefined;
  const question = exitCode === 0 ? undefined : lastQuestion(whole);
  return {
    stdout: streamText(output.stdout),
    stderr: streamText(output.stderr),
    exitCode,
    signal,
    duration: Math.round(run.durationMs),
    changed: kept,
    notes: [
      ...(question === undefined ? [] : [unapprovedHosts(question)]),
      ...stageHints(`${whole}\n${signal ?? ''}`),
      ...refusedHosts(run),
      ...run.notes,
    ],
    output: whole.length > room ? truncate(whole, room, outputLocation(artifact)) : whole,
    ...(artifact !== undefined && { artifact }),
  };
}

/** For the model: the output, then the exit status and the changed files. */
export function renderReport({ output, exitCode, signal, duration, changed, notes }: RunReport): string {
  const took = duration < 1000 ? `${duration} ms` : `${(duration / 1000).toFixed(1)} s`;
  const end = signal === null ? `exit code ${exitCode}` : `ended by ${signal}`;
  const lines = [`[${end}, ${took}]`, ...changesLine(changed), ...notes.map((note) => `[${note}]`)];
  const border = output === '' || output.endsWith('\n') ? '' : '\n';
  return `${output}${border}${lines.join('\n')}`;
}

/** For a person: the output with its end. The card of the call shows changes and notes by themselves. */
export function viewReport({ output, exitCode, duration }: RunReport): ViewBlock[] {
  return [{ kind: 'terminal', text: output, exitCode, durationMs: duration }];
}

/** The files the command created or changed, for clients that can link to them. */
export function leftFiles({ changed }: RunReport): Attachment[] {
  if (changed?.state === 'discarded') return [];
  const paths = [...(changed?.created ?? []), ...(changed?.modified ?? [])];
  return paths.slice(0, MAX_PATHS).map((path) => ({ kind: 'file', path }));
}

/** Both streams in order of arrival; stderr is marked. */
function inOrder(pieces: ReturnType<RunResult['output']['log']['pieces']>, output: RunResult['output']): string {
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  const parts = pieces.map(({ stream, bytes }) => {
    const text = plainText(decoders[stream].decode(bytes, { stream: true }));
    return stream === 'stdout' || text === '' ? text : `<stderr>${text}</stderr>${text.endsWith('\n') ? '\n' : ''}`;
  });
  const { totalBytes, keptBytes } = output.log;
  if (totalBytes > keptBytes)
    parts.push(`\n[${totalBytes - keptBytes} bytes not kept]\n`, streamText(output.stdout, 5));
  return parts.join('');
}

function streamText({ head, tail, totalBytes }: CapturedStream, share = 1): string {
  const gap = totalBytes - head.length - tail.length;
  const all = Buffer.concat(gap === 0 ? [head, tail] : [head, Buffer.from(`\n[${gap} bytes left out]\n`), tail]);
  const text = plainText(new TextDecoder().decode(all));
  const limit = STREAM_CHARACTERS / share;
  return text.length <= limit ? text : truncate(text, limit, 'the output has it');
}

async function keep(text: string, ctx: ToolContext): Promise<string | undefined> {
  try {
    return await ctx.artifacts.put(new TextEncoder().encode(text));
  } catch {
    return undefined;
  }
}

function outputLocation(artifact: string | undefined): string {
  return artifact === undefined
    ? 'it could not be stored: redirect the output to a file to read it'
    : `the full output is stored as artifact ${artifact}; read it with read_output`;
}

function unapprovedHosts(question: string): string {
  return `It seems to wait for an answer to "${question}", but there is no input: give the answer as an option, pipe it in, or run it in the background and use process_input.`;
}

function refusedHosts({ network }: RunResult): string[] {
  const hosts = [...new Set(network.filter(({ allowed }) => !allowed).map(({ host, port }) => `${host}:${port}`))];
  return hosts.length === 0 ? [] : [`Not reached, because they are not allowed: ${hosts.slice(0, 10).join(', ')}`];
}

function end(text: string): string {
  return text.slice(-2_000);
}
