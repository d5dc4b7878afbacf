import { spawn } from 'node:child_process';
import type { ToolResult } from '../../src/kernel/tool/tool-result.ts';
import type { Fixture } from './fixture.ts';

const ROUNDS = 2000;

/** Exchanges a folder and a symlink to the outside without pause; neither name is ever missing. */
const SWAP = `
import ctypes, os, sys
folder, out = sys.argv[1], sys.argv[2]
os.symlink(out, folder + '.link')
libc = ctypes.CDLL(None)
print('ready', flush=True)
while True:
    libc.renameat2(-100, folder.encode(), -100, (folder + '.link').encode(), 2)
`;

/** Makes 2,000 calls while the folder of the case is swapped with a symlink. */
export async function callWhileSwapping(fixture: Fixture, call: () => Promise<ToolResult>): Promise<ToolResult[]> {
  const { attack, workspace, values } = fixture;
  const path = String(attack.input['path'] ?? attack.input['from'] ?? '');
  const folder = `${workspace}/${path.split('/')[0]}`;
  const swapper = spawn('python3', ['-c', SWAP, folder, values['OUT'] ?? ''], { stdio: ['ignore', 'pipe', 'ignore'] });
  await new Promise((resolve) => swapper.stdout.once('data', resolve));
  const results: ToolResult[] = [];
  for (let round = 0; round < ROUNDS; round++) results.push(await call());
  const gone = new Promise((resolve) => swapper.once('exit', resolve));
  if (swapper.exitCode !== null) throw new Error('the links were not swapped to the end');
  swapper.kill('SIGKILL');
  await gone;
  return results;
}
