import { z } from 'zod';
import type { ToolContext } from '../../kernel/tool/tool.ts';
import type { CommandRequest } from '../../kernel/world/commands.ts';
import { isObeyedVariable } from '../../kernel/world/environment.ts';

const MAX_SECONDS = 600;
/** Time beyond the command's own for ending it, collecting output and listing its changes. */
const GRACE_SECONDS = 15;

export const cwd = z.string().min(1).optional().describe('Folder to start in, relative to the workspace root');

const environment = z.record(
  z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'a name has letters, digits and _'),
  z.string(),
);

/** Refuses variables that decide what runs: they belong into the command, where a person sees them. */
export const commandEnvironment = environment
  .refine((env) => steeringVariable(env) === undefined, {
    error: ({ input }) => {
      const name = steeringVariable(input as Record<string, string>);
      return `the variable ${name} decides what runs, so it cannot be set here; if it is needed, set it in the command or the code itself`;
    },
  })
  .optional()
  .describe('Environment variables for the command');

function steeringVariable(env: Record<string, string>): string | undefined {
  return Object.keys(env).find((name) => isObeyedVariable(name, env[name]));
}

export function timeout(what: string) {
  return z.number().positive().max(MAX_SECONDS).optional().describe(`Seconds until it is stopped; ${what}`);
}

/** Time of the run itself. */
export function secondsFor(given: number | undefined, fallback: number): number {
  return given ?? Math.min(fallback, MAX_SECONDS);
}
/** A run that can only read may be repeated on the real files, with its whole time. */
export function callSeconds(seconds: number, { granted }: Pick<ToolContext, 'granted'>): number {
  const isReading = granted.some((access) => access.kind === 'process.run' && access.writes === 'nothing');
  return (isReading ? 2 * seconds : seconds) + GRACE_SECONDS;
}

/** Runs as it was granted: where its writes go, whether it may use the network, and by which rule. */
export function writesOf({ granted }: ToolContext): Pick<CommandRequest, 'writes' | 'network' | 'allowedBy'> {
  const run = granted.find((access) => access.kind === 'process.run');
  const { writes = 'stage', network, allowedBy } = run ?? {};
  return {
    writes: writes === 'background' ? 'stage' : writes,
    ...(network && { network: 'allowed' as const }),
    ...(allowedBy !== undefined && { allowedBy }),
  };
}

export function firstLine(text: string): string {
  const [line = ''] = text.trim().split('\n');
  return line.length > 120 || line !== text.trim() ? `${line.slice(0, 120)} …` : line;
}
