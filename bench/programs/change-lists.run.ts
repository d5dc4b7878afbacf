// One command that changes nearly as many paths as a command may, from its run to its undo, in a process of its own, so that
// the memory it takes is known. Prints what was measured and what was wrong, as JSON.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_LIMITS } from '../../src/kernel/world/sandbox.ts';
import { openCommands } from '../../test/changes/open-commands.ts';

export interface ChangeListsReport {
  readonly entries: number;
  /** Items of the list that the person saw. */
  readonly items: number;
  readonly changeSeconds: number;
  readonly undoSeconds: number;
  /** The memory of all of it, beyond that of the process before. */
  readonly megabytes: number;
  readonly problems: readonly string[];
}

const PER_FOLDER = 500;
const [OLD, CREATED, MODIFIED] = [30_000, 165_000, 18_000];

const problems: string[] = [];
await using ws = await openCommands({ answers: [true], mode: 'ask' });
const folders = (files: number): string[] => Array.from({ length: files / PER_FOLDER }, (_, at) => `${at}`);
for (const folder of folders(OLD)) {
  mkdirSync(ws.file(`old/${folder}`), { recursive: true });
  for (let file = 0; file < PER_FOLDER; file++) writeFileSync(ws.file(`old/${folder}/${file}`), 'old\n');
}
await ws.call('bash', { command: 'true' });
const before = process.resourceUsage().maxRSS;

const script = `import os
for folder in range(${CREATED / PER_FOLDER}):
    os.makedirs(f'new/{folder}')
    for file in range(${PER_FOLDER}): open(f'new/{folder}/{file}', 'w').write('new\\n')
for at in range(${OLD}):
    path = f'old/{at // ${PER_FOLDER}}/{at % ${PER_FOLDER}}'
    if at < ${MODIFIED}: open(path, 'w').write('changed\\n')
    else: os.remove(path)
`;
const startedAt = performance.now();
const ran = await ws.call('bash', { command: `python3 - <<'END'\n${script}END`, timeout: 600 });
const changedAt = performance.now();
expect('the call', ran.ok ? 'kept' : ran.text, 'kept');
const [block] = ws.questions[0]?.shown.preview ?? [];
const list = block?.kind === 'changes' ? block : null;
expect('all that the question tells', list?.total, CREATED + OLD + folders(CREATED).length + 1);
expect('the list is told to be cut', list?.truncated, true);
expect('new files', count('new'), CREATED);
expect('old files that are left', count('old'), MODIFIED);
const undone = await ws.workspace.undo(ran.callId ?? '');
const undoneAt = performance.now();
expect('the undo', undone.ok || undone.error.message, true);
expect('old files after the undo', count('old'), OLD);
expect('new files after the undo', existsSync(ws.file('new')), false);

const command = `mkdir more && cd more && seq ${DEFAULT_LIMITS.newFiles + 1} | xargs touch`;
const tooMany = await ws.call('bash', { command, timeout: 600 });
const told = JSON.stringify(tooMany);
expect('paths beyond the limit are told', told.includes(`${DEFAULT_LIMITS.newFiles}`), true);
expect('the workspace after it', existsSync(ws.file('more')), false);

const report: ChangeListsReport = {
  entries: list?.total ?? 0,
  items: list?.items.length ?? 0,
  changeSeconds: (changedAt - startedAt) / 1_000,
  undoSeconds: (undoneAt - changedAt) / 1_000,
  megabytes: (process.resourceUsage().maxRSS - before) / 1024,
  problems,
};
process.stdout.write(JSON.stringify(report));

function expect(what: string, is: unknown, wanted: unknown): void {
  if (is !== wanted) problems.push(`${what}: ${is} instead of ${wanted}`);
}

function count(folder: string): number {
  if (!existsSync(ws.file(folder))) return 0;
  return readdirSync(ws.file(folder)).reduce((sum, each) => sum + readdirSync(join(ws.file(folder), each)).length, 0);
}
