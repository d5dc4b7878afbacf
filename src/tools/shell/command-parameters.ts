import { z } from 'zod';
import { isObeyedVariable } from '../../kernel/world/environment.ts';
import type { MountMode } from '../../kernel/world/sandbox.ts';
import type { ToolContext } from '../../kernel/tool/tool.ts';

const LONGEST_SECONDS = 600;
/** What ending, collecting and looking for changed files may take beyond the command's own time. */
const GRACE_SECONDS = 15;

export const cwd = z.string().min(1).optional().describe('Folder to start in, relative to the workspace root');

const environment = z.record(
  z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'a name has letters, digits and _'),
  z.string(),
);

/** For a command line: a variable that decides what runs belongs into the command, where a person sees it. */
export const commandEnvironment = environment
  .refine((env) => obeyedIn(env) === undefined, {
    error: ({ input }) => {
      const name = obeyedIn(input as Record<string, string>);
      return `the variable ${name} decides what runs, so it cannot be set here; if it is needed, set it in the command or the code itself`;
    },
  })
  .optional()
  .describe('Environment variables for the command');

function obeyedIn(env: Record<string, string>): string | undefined {
  return Object.keys(env).find((name) => isObeyedVariable(name, env[name]));
}

export function timeout(what: string) {
  return z.number().positive().max(LONGEST_SECONDS).optional().describe(`Seconds until it is stopped; ${what}`);
}

/** The time of the run itself, and what the call as a whole may take. */
export function secondsFor(given: number | undefined, fallback: number): number {
  return given ?? Math.min(fallback, LONGEST_SECONDS);
}
export function callSeconds(seconds: number): number {
  return seconds + GRACE_SECONDS;
}

/** What was granted decides how the workspace is mounted: a command that only reads can write nothing. */
export function mountsOf({ granted }: ToolContext): MountMode {
  return granted.some((access) => access.kind === 'process.run' && access.writes === 'nothing') ? 'read' : 'live';
}

export function firstLine(text: string): string {
  const [line = ''] = text.trim().split('\n');
  return line.length > 120 || line !== text.trim() ? `${line.slice(0, 120)} …` : line;
}
