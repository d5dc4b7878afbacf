// Prints how runs are staged, and the notes and the changes of a run in a workspace, for a test on a changed system.
import { createFilePolicy } from '../../kernel/world/file-policy.ts';
import { createBubblewrap } from '../../sandbox/bubblewrap/bubblewrap.ts';
import { makeStage } from '../try-sandbox.ts';

const [home = '', stateDir = '', workspace = '', script = ''] = process.argv.slice(2);
const host = { home, stateDir, path: '/usr/bin:/bin' };
const sandbox = createBubblewrap({ ...host, filePolicy: createFilePolicy(), cgroups: 'never' });
const stage = { folder: await makeStage(sandbox) };
const status = await sandbox.status();
const ran = await sandbox.run({ command: { script }, workspace, mounts: 'staged', tag: 'notes', stage });
const shown = ran.ok
  ? { notes: ran.value.notes, changes: ran.value.staged?.changes.map(({ kind, path }) => `${kind} ${path}`) }
  : ran.error;
process.stdout.write(JSON.stringify({ stages: status.ok && status.value.details.stages, ...shown }));
await sandbox.close();
