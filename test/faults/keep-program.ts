/**
 * A process that runs a command in mode auto, which keeps its changes unasked, and dies at the named failpoint.
 * Arguments: workspace, home, command, failpoint.
 */
import { openApp } from '../../src/app/open-app.ts';
import { openSession } from '../../src/app/open-session.ts';
import { ExecutionContext } from '../../src/kernel/call/execution-context.ts';
import { armFailpoints } from '../../src/kernel/failpoint.ts';

const [workspace = '', home = '', command = '', dieAt = ''] = process.argv.slice(2);
const env = { PATH: process.env.PATH ?? '' };
const opened = await openApp({ workspace, home, env, flags: { mode: 'auto' } });
if (!opened.ok) throw new Error(opened.error.message);
armFailpoints((name) => {
  if (name === dieAt) process.kill(process.pid, 'SIGKILL');
});
const app = opened.value;
await openSession(app, 'keeping', command);
const context = new ExecutionContext({ ...app.context, sessionId: 'keeping' });
const ran = await app.executor.execute('bash', context, { command });
await app.close();
throw new Error(`It passed no ${dieAt}: ${ran.toDisplay()}`);
