// The version before stages, as a process of its own: it runs commands on the live files and writes through its journal.
// Started with the folder of its sources and one for its state; each order is answered with the milliseconds it took.
import { join } from 'node:path';

export type BeforeOrder =
  | { readonly run: string }
  | { readonly write: string; readonly journal: string; readonly files: number };
export type BeforeAnswer = { readonly ms: number } | { readonly error: string };

const [, , sources = '', stateFolder = ''] = process.argv;
const { createBubblewrap } = await import(join(sources, 'src/sandbox/bubblewrap.ts'));
const { createFilePolicy } = await import(join(sources, 'src/kernel/file-policy.ts'));
const { openWorkspace } = await import(join(sources, 'src/workspace/open-workspace.ts'));

const host = { path: process.env['PATH'] ?? '', home: join(stateFolder, 'home'), stateFolder };
const sandbox = createBubblewrap({ ...host, filePolicy: createFilePolicy() });

process.on('message', (order: BeforeOrder) => {
  const work = 'run' in order ? run(order.run) : write(order);
  work.then(
    (ms) => answer({ ms }),
    (error: unknown) => answer({ error: String(error) }),
  );
});
process.on('disconnect', () => void sandbox.close().finally(() => process.exit(0)));

/** As every call of `bash` ran: with a report of the files that it changed. */
async function run(workspace: string): Promise<number> {
  const start = performance.now();
  const ran = await sandbox.run({ command: ['true'], workspace, mounts: 'live', changes: 'report', tag: 'before' });
  if (!ran.ok) throw new Error(ran.error.message);
  ran.value.output.log.dispose();
  return performance.now() - start;
}

async function write({ write: root, journal, files }: Extract<BeforeOrder, { write: string }>): Promise<number> {
  const workspace = await openWorkspace({ root, journal: { folder: journal } });
  const { signal } = new AbortController();
  const caller = { callId: 'before', session: 'before', workingDir: root, timeout: 600, signal };
  const changes = Array.from({ length: files }, (_, index) => {
    return { kind: 'write', path: `n/${index}`, content: { text: `${index}\n` }, expect: 'absent' };
  });
  const start = performance.now();
  const done = await workspace.open({ ...caller, admitted: [{ kind: 'unknown' }] }).files.apply(changes);
  const ms = performance.now() - start;
  workspace.close();
  if (!done.ok) throw new Error(done.error.message);
  return ms;
}

function answer(said: BeforeAnswer): void {
  process.send?.(said);
}
