import { z } from 'zod';
import { ok, type Result } from '../../kernel/result.ts';
import type { ToolContext } from '../../kernel/tool/tool.ts';
import type { ViewBlock } from '../../kernel/tool/view.ts';
import type { BackgroundProcess } from '../../kernel/world/commands.ts';
import { lastQuestion, plainText } from './terminal-text.ts';

/** A background process as programs see it. */
export const processShape = z.object({
  id: z.string(),
  title: z.string(),
  state: z.enum(['running', 'exited']),
  startedAt: z.number(),
  endedAt: z.number().nullable(),
  exitCode: z.int().nullable(),
  signal: z.string().nullable(),
  outputBytes: z.int(),
  keptBytes: z.int(),
  awaitsInput: z.boolean().nullable(),
  notes: z.array(z.string()),
});
export type ShownProcess = z.output<typeof processShape>;

export const processId = z.string().min(1).describe('The id returned by bash, such as p1; process_list lists all');

export function shownProcess({ notes, ...process }: BackgroundProcess): ShownProcess {
  return { ...process, notes: [...notes] };
}

/** One line with the process and its state. */
export function processLine({ id, title, state, exitCode, signal, startedAt, endedAt }: ShownProcess): string {
  const seconds = Math.round(((endedAt ?? Date.now()) - startedAt) / 1000);
  const how = state === 'running' ? `running for ${seconds} s` : `${endOf(exitCode, signal)} after ${seconds} s`;
  return `${id}: ${title} (${how})`;
}

function endOf(exitCode: number | null, signal: string | null): string {
  return signal === null ? `exit code ${exitCode ?? 'unknown'}` : `ended by ${signal}`;
}

const FIRST_LOOK_MS = 400;
const FIRST_BYTES = 4_000;

/** Waits briefly for first output and an early end: a server that cannot start says so at once. */
export async function firstLook(
  id: string,
  ctx: ToolContext,
): Promise<Result<{ process: ShownProcess; output: string }>> {
  const deadline = Date.now() + FIRST_LOOK_MS;
  for (;;) {
    const found = ctx.commands.process(id);
    if (!found.ok) return found;
    if (found.value.state === 'running' && Date.now() < deadline && !ctx.signal.aborted) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      continue;
    }
    const page = ctx.commands.output(id, 0, FIRST_BYTES);
    return page.ok ? ok({ process: shownProcess(found.value), output: plainText(page.value.text) }) : page;
  }
}

/** For the model: the output, the state, and the tools that continue with it. */
export function renderProcess(process: ShownProcess, output: string): string {
  const border = output === '' || output.endsWith('\n') ? '' : '\n';
  const question = waitsFor(process, output);
  const lines = [
    `[${processLine(process)}]`,
    ...(question === undefined ? [] : [`[${question}]`]),
    ...process.notes.map((note) => `[${note}]`),
  ];
  return `${output}${border}${lines.join('\n')}`;
}

/** For a person: the output with its end. */
export function viewProcess({ title, exitCode, startedAt, endedAt }: ShownProcess, output: string): ViewBlock[] {
  const durationMs = endedAt === null ? null : endedAt - startedAt;
  return [{ kind: 'terminal', text: output, exitCode, durationMs, title }];
}

function waitsFor({ id, state, awaitsInput }: ShownProcess, output: string): string | undefined {
  if (state !== 'running' || awaitsInput === false) return undefined;
  const question = lastQuestion(output);
  if (awaitsInput === null && question === undefined) return undefined;
  const what = question === undefined ? '' : `, after "${question}"`;
  return `${id} waits for input${what}: answer with process_input, or stop it with process_stop`;
}
