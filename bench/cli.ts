import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Benchmark, timesTheLimit } from './benchmark.ts';

const CLI = resolve(import.meta.dirname, '../dist/cli.js');
const SAMPLES = 9;

export const benchmark: Benchmark = {
  about: 'Starting the built command line, against starting Node with nothing to do. The best of nine, taken in turn.',
  async run() {
    const folder = mkdtempSync(join(tmpdir(), 'bench-cli-'));
    writeFileSync(join(folder, 'a.txt'), 'hello');
    const env = { ...process.env, XDG_STATE_HOME: `${folder}-state`, XDG_CONFIG_HOME: `${folder}-config` };
    const commands = {
      node: ['-e', '0'],
      version: [CLI, '--version'],
      call: [CLI, 'call', 'read_file', '--path', 'a.txt', '-w', folder],
    };
    const best = { node: Infinity, version: Infinity, call: Infinity };
    for (let sample = 0; sample < SAMPLES; sample++) {
      for (const name of ['node', 'version', 'call'] as const) {
        const start = performance.now();
        const { status, stderr } = spawnSync(process.execPath, commands[name], { env, encoding: 'utf8' });
        if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr}`);
        best[name] = Math.min(best[name], performance.now() - start);
      }
    }
    for (const place of ['', '-state', '-config']) rmSync(`${folder}${place}`, { recursive: true, force: true });
    return [
      timesTheLimit('toolwright --version', best.version, best.node, 'ms', 1.5),
      timesTheLimit('toolwright call read_file, cold', best.call, best.node, 'ms', 3),
    ];
  },
};
