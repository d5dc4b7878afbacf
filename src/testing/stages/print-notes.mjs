// Prints the notes and the changes of a run in a workspace, for a test that mounts something there first.
import { createFilePolicy } from '../../kernel/world/file-policy.ts';
import { createBubblewrap } from '../../sandbox/bubblewrap/bubblewrap.ts';
import { makeStage } from '../try-sandbox.ts';

const [home = '', stateDir = '', workspace = ''] = process.argv.slice(2);
const sandbox = createBubblewrap({ home, stateDir, path: '/usr/bin:/bin', filePolicy: createFilePolicy() });
const stage = { folder: await makeStage(sandbox) };
const command = { script: 'echo 2 >data/b; cat data/a' };
const ran = await sandbox.run({ command, workspace, mounts: 'staged', tag: 'notes', stage });
const shown = ran.ok
  ? { notes: ran.value.notes, changes: ran.value.staged?.changes.map(({ path }) => path) }
  : ran.error;
process.stdout.write(JSON.stringify(shown));
await sandbox.close();
