// Run by the crash tests as a process of its own: changes files until it is killed. From dist, to start quickly. Arguments: workspace, journal.
import { builtInTools, createToolwright, openWorkspace } from '../../dist/index.js';

const [root = '', folder = ''] = process.argv.slice(2);
const world = await openWorkspace({ root, journal: { folder } });
const { call } = createToolwright({ tools: builtInTools, world, approver: () => ({ approved: true }) });
process.send('ready');

for (let round = 0; ; round++) {
  const letter = String.fromCharCode(97 + (round % 26));
  const edits = [
    { old: 'x end', new: 'xx end' },
    { old: 'xx end', new: `x end${letter}` },
  ];
  const patch = (path) => `*** Update File: ${path}\n-${round}\n+${round + 1}\n`;
  await call('write_file', { path: 'big.txt', content: letter.repeat(1_000_000) });
  await call('write_file', { path: `made/${letter}/new.txt`, content: letter.repeat(5000) });
  await call('edit_file', { path: 'small.txt', edits });
  await call('edit_file', { path: 'small.txt', edits: [{ old: `end${letter}`, new: 'end' }] });
  await call('move_file', { from: 'here.txt', to: 'sub/there.txt' });
  await call('move_file', { from: 'sub/there.txt', to: 'here.txt' });
  await call('move_file', { from: 'tree', to: 'sub/tree' });
  await call('move_file', { from: 'sub/tree', to: 'tree' });
  await call('apply_patch', { patch: `*** Begin Patch\n${patch('one.txt')}${patch('two.txt')}*** End Patch` });
  await call('delete_file', { path: 'made', recursive: true });
}
