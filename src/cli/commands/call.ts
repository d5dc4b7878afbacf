import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { type Host, openHost } from '../../app/open-host.ts';
import { ExecutionContext } from '../../kernel/execution-context.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { EXIT, exitCodeOf } from '../exit-codes.ts';
import { collect, settingsFrom } from '../flags.ts';
import { toolArguments } from '../tool-arguments.ts';

interface CallOptions {
  workspace: string;
  args?: string;
  headless?: boolean;
  dryRun?: boolean;
  set: string[];
  json?: boolean;
}

export function define(command: Command): void {
  command
    .argument('<tool>', 'its name')
    .argument('[arguments...]', 'its parameters as --name value, or one JSON object with --args')
    .option('-w, --workspace <folder>', 'the folder to work in', '.')
    .option('--args <json>', 'all parameters as one JSON object')
    .option('--headless', 'nobody can be asked: refuse at once what needs a person')
    .option('--dry-run', 'say what would happen, and do nothing')
    .option('--set <name=value>', 'any setting of the configuration', collect, [])
    .option('--json', 'print one JSON object instead of text')
    .allowUnknownOption()
    .action(call);
}

/** One call in a session of its own. Who is asked: the person at this terminal, or anybody at another door. */
async function call(tool: string, words: readonly string[], options: CallOptions): Promise<void> {
  const { workspace, headless = false, json } = options;
  const opened = await openHost({
    workspaces: [workspace],
    env: process.env,
    flags: settingsFrom(options.set),
    headless,
    takeOver: false,
  });
  if (!opened.ok) return leave(opened.error);
  const host = opened.value;
  const [entry] = host.workspaces;
  if (entry === undefined) return;
  const [workspaceId, { registry, executor, context }] = entry;
  const described = registry.describeAll().find((each) => each.tool.name === tool);
  const args =
    options.args === undefined ? toolArguments(words, described?.tool.input.json ?? {}) : parsed(options.args);
  if (!args.ok) {
    await host.close();
    return leave(args.error);
  }

  const session = `cli-${randomUUID()}`;
  const data = { workspace: workspaceId, title: `call ${tool}`, agent: null, by: 'cli' };
  await host.ledger.note(session, { type: 'session.created', callId: null, at: Date.now(), data });
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  const stopAsking = headless ? () => {} : askHere(host, session);
  const { workingDir, timeout, maxOutputSize } = context;
  const where = { workingDir, timeout, maxOutputSize, sessionId: session, dryRun: options.dryRun ?? false };
  const result = await executor.execute(tool, new ExecutionContext(where), args.value, { signal: stop.signal });
  stopAsking();
  await host.close();
  if (json)
    console.log(
      JSON.stringify(
        result.ok
          ? { ok: true, callId: result.callId, value: result.value }
          : { ok: false, callId: result.callId, error: result.error },
      ),
    );
  else (result.ok ? console.log : console.error)(result.text);
  process.exit(result.ok ? EXIT.ok : exitCodeOf(result.error));
}

function leave(error: { code: Parameters<typeof exitCodeOf>[0]['code']; message: string }): never {
  console.error(error.message);
  process.exit(exitCodeOf(error));
}

function parsed(text: string): Result<Record<string, unknown>> {
  try {
    return ok(JSON.parse(text));
  } catch {
    return fail('INVALID_INPUT', '--args is not JSON.');
  }
}

/** Tells of a question; asks it if somebody sits here. Another door may be quicker. */
function askHere(host: Host, session: string): () => void {
  const interactive = process.stdin.isTTY === true && process.stderr.isTTY === true;
  const prompt = interactive ? createInterface({ input: process.stdin, output: process.stderr }) : undefined;
  const stop = host.ledger.follow((event) => {
    if (event.type !== 'approval.requested' || event.session !== session) return;
    const { approvalId, reason, shown } = event.data;
    console.error(`${shown?.summary ?? event.data.tool}: ${reason}`);
    for (const block of shown?.preview ?? [])
      console.error('text' in block ? block.text : 'command' in block ? block.command : block.url);
    if (prompt === undefined) console.error(`Waiting for an answer to ${approvalId} at another door.`);
    else void answer(approvalId);
  });
  return () => {
    stop();
    prompt?.close();
  };

  async function answer(id: string): Promise<void> {
    const said = (await prompt?.question('Run it? [y/N] '))?.trim().toLowerCase();
    if (said === 'y' || said === 'yes') await host.answers.approve(id, 'cli', {});
    else await host.answers.deny(id, 'cli', said === '' || said === 'n' || said === 'no' ? undefined : said);
  }
}
