// Writes one file and waits to be killed, or ends. Arguments: workspace, journal, path, file with the content.
import { readFileSync } from 'node:fs';
import { builtInTools, createToolwright, openWorkspace } from '../../dist/index.js';

const [root, folder, path, body] = process.argv.slice(2);
const content = readFileSync(body, 'utf8');
const world = await openWorkspace({ root, journal: { folder } });
const { call } = createToolwright({ tools: builtInTools, world, approver: () => ({ approved: true }) });
process.send?.('ready');
const { ok } = await call('write_file', { path, content });
process.exit(ok ? 0 : 1);
