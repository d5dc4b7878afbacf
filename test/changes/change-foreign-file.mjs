// Changes a file of root in the workspace of an ordinary user, and prints the result that the model reads. Started as root: it
// becomes that user only when its modules are loaded, which may lie where no other user can read them.
import { chmodSync, chownSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandWorkspace } from '../../src/testing/command-workspace.ts';

const NOBODY = 65534;
const folder = mkdtempSync(join(tmpdir(), 'foreign-'));
writeFileSync(join(folder, 'foreign'), 'x\n');
chmodSync(join(folder, 'foreign'), 0o666);
chownSync(folder, NOBODY, NOBODY);
process.env['TMPDIR'] = folder;
process.setgroups?.([]);
process.setgid?.(NOBODY);
process.setuid?.(NOBODY);

const ws = await commandWorkspace({ path: '/usr/bin:/bin' });
renameSync(join(folder, 'foreign'), join(ws.root, 'foreign'));
const ran = await ws.call('bash', { command: 'echo y >>foreign; true' });
process.stdout.write(ran.text);
await ws[Symbol.asyncDispose]();
rmSync(folder, { recursive: true, force: true });
