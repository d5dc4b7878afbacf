import { z } from 'zod';
import { ToolCategory } from '../../kernel/tool/category.ts';
import { defineTool, type ToolContext } from '../../kernel/tool/tool.ts';
import type { CommandRequest } from '../../kernel/world/commands.ts';
import { callSeconds, commandEnvironment, cwd, timeout, writesOf } from '../shell/command-parameters.ts';
import { leftFiles, rehearseCommand, renderReport, runAndReport, runReport, viewReport } from '../shell/run-report.ts';

const DEFAULT_SECONDS = 60;

const input = z.strictObject({
  language: z.enum(['python', 'bash', 'javascript']).describe('Language of the code'),
  code: z.string().min(1).max(100_000).describe('The program'),
  args: z.array(z.string()).default([]).describe('Its command-line arguments'),
  env: commandEnvironment.describe('Environment variables for the code'),
  cwd,
  timeout: timeout(`default ${DEFAULT_SECONDS}, at most 600`),
  network: z.boolean().default(false).describe('Whether it needs the network, which needs approval'),
  hosts: z
    .array(z.string())
    .optional()
    .describe('With network: the hosts it needs, such as pypi.org. Default: the allowed hosts'),
});
type CodeInput = z.output<typeof input>;

export const runCode = defineTool({
  name: 'run_code',
  category: ToolCategory.EXECUTION,
  effect: 'once',
  patterns: 'code',
  endsOnAbort: true,
  description:
    'Run a small program in Python, bash or JavaScript in a sandbox: it sees only the workspace, ' +
    'has no network unless requested, and has limits on time, memory and processes.',
  input,
  output: runReport,

  summary: ({ language, code, network }) =>
    `Run ${code.split('\n').length} lines of ${language}${network ? ' with network' : ''}`,
  access: ({ language, code, args, cwd, network }) => [
    {
      kind: 'process.run',
      command: code,
      writes: 'stage',
      code: language,
      ...(cwd !== undefined && { cwd }),
      ...(args.length > 0 && { args }),
      ...(network && { network }),
    },
  ],
  approval({ network, hosts }) {
    if (!network) return undefined;
    const where = hosts === undefined ? 'the allowed hosts' : hosts.join(', ');
    return { reason: `The code would use the network: ${where}.`, always: true };
  },
  seconds: ({ timeout = DEFAULT_SECONDS }, ctx) => callSeconds(timeout, ctx),
  preview: ({ language, code, cwd = 'the workspace', network, env = {} }) => {
    const variables = Object.entries(env).map(([name, value]) => `${name}=${JSON.stringify(value)}\n`);
    const where = `this ${language} code in ${cwd}, in the sandbox, ${network ? 'with' : 'without'} network`;
    return `${where}\n${variables.join('')}${code}`;
  },

  rehearse: (input, ctx) => rehearseCommand(requestOf(input, ctx), ctx),

  run: (input, ctx) => runAndReport(requestOf(input, ctx), ctx),

  render: renderReport,
  view: viewReport,
  attachments: leftFiles,
});

function requestOf(input: CodeInput, ctx: ToolContext): CommandRequest {
  const { language, code, args, cwd, env, network, hosts, timeout = DEFAULT_SECONDS } = input;
  return {
    command: { script: code, args, ...(language !== 'bash' && { language }) },
    timeoutMs: timeout * 1000,
    title: `${language} code`,
    ...writesOf(ctx),
    ...(cwd !== undefined && { cwd }),
    ...(env !== undefined && { env }),
    ...(network && { network: hosts ?? 'allowed' }),
  };
}
