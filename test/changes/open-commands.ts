import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { ApprovalRequest } from '../../src/kernel/ports.ts';
import { type CommandOptions, commandWorkspace } from '../../src/testing/command-workspace.ts';
import type { TempWorkspace } from '../../src/testing/temp-workspace.ts';

const PATH = '/usr/local/bin:/usr/bin:/bin';

interface CommandWorkspace extends TempWorkspace {
  readonly questions: readonly ApprovalRequest[];
  text(path: string): string;
}

/** A workspace with commands; `answers` are the person's, one for each question about changes; none left: no. */
export async function openCommands(
  given: Partial<CommandOptions> & {
    answers?: (Record<string, unknown> | boolean)[];
    beforeAnswer?: (ws: CommandWorkspace) => void | Promise<void>;
    repository?: boolean;
  } = {},
): Promise<CommandWorkspace> {
  const { answers = [], repository = false, beforeAnswer, ...more } = given;
  const questions: ApprovalRequest[] = [];
  const ws = await commandWorkspace({
    path: PATH,
    ...more,
    options: {
      ...more.options,
      async approver(request) {
        questions.push(request);
        await beforeAnswer?.(opened);
        const answer = answers.shift() ?? false;
        if (typeof answer === 'boolean') return { approved: answer };
        return { approved: true, modifiedArgs: { ...request.args, ...answer } };
      },
    },
  });
  if (repository) {
    const git = (...args: string[]) => execFileSync('git', ['-C', ws.root, ...args]);
    git('init', '-q', '-b', 'main');
    git('add', '-A');
    git('-c', 'user.name=a', '-c', 'user.email=a@b.c', 'commit', '-qm', 'first');
  }
  const text = (path: string): string => readFileSync(ws.file(path), 'utf8');
  const opened: CommandWorkspace = Object.assign(ws, { questions, text });
  return opened;
}
