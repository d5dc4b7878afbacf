// Begins to collect the changes of session `s` in a workspace, writes one file there and waits until it is killed.
import { openCommands } from '../../src/app/open-commands.ts';
import { createFilePolicy } from '../../src/kernel/world/file-policy.ts';
import { createPolicy } from '../../src/policy/create-policy.ts';
import { createToolwright } from '../../src/runtime/create-toolwright.ts';
import { builtInTools } from '../../src/tools/index.ts';
import { openWorkspace } from '../../src/workspace/open-workspace.ts';
import { HOST_PATH } from './compare-with-plain.ts';

const [root = '', stateDir = '', home = ''] = process.argv.slice(2);
const files = createFilePolicy();
const commands = await openCommands({ files, stateDir, path: HOST_PATH, home });
const workspace = await openWorkspace({ root, policy: files, sandbox: commands.sandbox });
const begun = await commands.sessions.begin({ workspace: root, session: 's', onto: null, callId: 'begin-s' });
const { executor } = createToolwright({
  tools: builtInTools,
  world: commands.addTo(workspace),
  policy: createPolicy({ mode: 'ask', rules: [], files, home, effects: 'staged' }),
});
const wrote = await executor.execute(
  'bash',
  { workingDir: root, sessionId: 's' },
  { command: 'echo of the other >other.txt; echo two >>a.txt' },
);
process.send?.({ begun: begun.ok, wrote: wrote.ok });
setInterval(() => {}, 60_000);
