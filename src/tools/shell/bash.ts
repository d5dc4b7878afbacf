import { z } from 'zod';
import { ok, type Result } from '../../kernel/result.ts';
import type { Access } from '../../kernel/tool/access.ts';
import { ToolCategory } from '../../kernel/tool/category.ts';
import { defineTool, type Rehearsal, type ToolContext } from '../../kernel/tool/tool.ts';
import type { CommandRequest } from '../../kernel/world/commands.ts';
import { isHarmlessVariable } from '../../kernel/world/environment.ts';
import {
  callSeconds,
  commandEnvironment,
  cwd,
  firstLine,
  secondsFor,
  timeout,
  writesOf,
} from './command-parameters.ts';
import { firstLook, processShape, renderProcess, viewProcess } from './process-text.ts';
import { leftFiles, rehearseCommand, renderReport, runAndReport, runReport, viewReport } from './run-report.ts';

// Strict: a model that believes it disabled the sandbox with an invented parameter must get an error.
const input = z.strictObject({
  command: z.string().min(1).describe('The command line for bash'),
  timeout: timeout('default 120, at most 600'),
  cwd,
  env: commandEnvironment,
  description: z.string().optional().describe('Its purpose in a few words, for the person who approves'),
  background: z.boolean().default(false).describe('Keep it running, such as a server; read it with process_output'),
});
type BashInput = z.output<typeof input>;

export const bash = defineTool({
  name: 'bash',
  category: ToolCategory.EXECUTION,
  effect: 'once',
  patterns: 'commands',
  endsOnAbort: true,
  description:
    'Run a command with bash in the workspace, in a sandbox. Returns its output, the exit code, the files it changed and ' +
    'whether these changes were kept: a person may discard them. ' +
    'There is no terminal and no input: use options such as --yes instead of answering questions. Only files persist ' +
    'between calls. Start servers with background: true.',
  input,
  output: runReport.extend({ process: processShape.optional() }),
  aliases: {
    command: ['cmd'],
    cwd: ['workdir', 'working_directory', 'workingDirectory'],
    background: ['run_in_background', 'is_background'],
  },

  summary: ({ command, background }) => `${background ? 'Start' : 'Run'} ${firstLine(command)}`,
  plan: (given, ctx) => ok({ access: [accessOf(given)], preview: previewOf(given, ctx), given }),
  seconds: ({ timeout }, ctx) => callSeconds(secondsFor(timeout, ctx.timeout), ctx),

  rehearse: (input, ctx) => {
    const request = requestOf(input, ctx);
    return input.background ? rehearseStart(request, ctx) : rehearseCommand(request, ctx);
  },

  async run({ given }, ctx) {
    if (given.background) return start(given, ctx);
    return runAndReport(requestOf(given, ctx), ctx);
  },

  render: ({ process, ...value }) =>
    process === undefined ? renderReport(value) : renderProcess(process, value.output),
  view: ({ process, ...value }) => (process === undefined ? viewReport(value) : viewProcess(process, value.output)),
  attachments: leftFiles,
});

const TRIAL_SECONDS = 5;

/** A process in the background has no end, but whether it starts shows within seconds: most that fail do so at once. */
async function rehearseStart(request: CommandRequest, ctx: ToolContext): Promise<Result<Rehearsal>> {
  const tried = await rehearseCommand({ ...request, timeoutMs: TRIAL_SECONDS * 1000 }, ctx);
  if (!tried.ok) return tried;
  const note = `[In the background it is tried for ${TRIAL_SECONDS} s. What it writes is kept only with process_keep.]`;
  return ok({ ...tried.value, text: `${tried.value.text}\n${note}` });
}

function accessOf({ command, background, cwd, env }: BashInput): Access {
  const riskyEnv = Object.keys(env ?? {}).filter((name) => !isHarmlessVariable(name, env?.[name]));
  return {
    kind: 'process.run',
    command,
    writes: background ? 'background' : 'stage',
    ...(cwd !== undefined && { cwd }),
    ...(env !== undefined && { env: Object.keys(env) }),
    ...(riskyEnv.length > 0 && { riskyEnv }),
  };
}

function previewOf({ command, cwd, timeout, background }: BashInput, ctx: ToolContext): string {
  const where = cwd === undefined ? 'the workspace' : cwd;
  const time = background ? 'in the background' : `for at most ${secondsFor(timeout, ctx.timeout)} s`;
  return `${command}\nin ${where}, in the sandbox, ${time}`;
}

function requestOf({ command, cwd, env, timeout }: BashInput, ctx: ToolContext): CommandRequest {
  return {
    command: { script: command },
    timeoutMs: secondsFor(timeout, ctx.timeout) * 1000,
    title: firstLine(command),
    ...writesOf(ctx),
    ...(cwd !== undefined && { cwd }),
    ...(env !== undefined && { env }),
  };
}

async function start(input: BashInput, ctx: ToolContext) {
  const started = await ctx.commands.start(requestOf(input, ctx));
  if (!started.ok) return started;
  const looked = await firstLook(started.value.id, ctx);
  if (!looked.ok) return looked;
  const { process, output } = looked.value;
  const nothing = { stdout: '', stderr: '', signal: null, duration: 0, changed: null, notes: [], exitCode: null };
  return ok({ ...nothing, output, process });
}
