// `npm start [-- options]`: builds what is missing, then starts the server on a copy of the demo workspace, or on the
// folders named with --workspace.
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { build } from './build.mjs';
import { root } from './install.mjs';
import { said } from './localized.mjs';

build();
const options = process.argv.slice(2);
const named = options.some((option) => /^(-w|--workspace(=.*)?)$/.test(option));
const place = named ? [] : ['--workspace', demoCopy()];
const server = spawn(process.execPath, [join(root, 'dist', 'cli.js'), 'start', ...place, ...options], {
  stdio: 'inherit',
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => server.kill(signal));
server.on('exit', (code) => process.exit(code ?? 1));

/** Made once, so that what was tried yesterday is still there; remove the folder for a fresh one. */
function demoCopy() {
  const xdg = process.env.XDG_DATA_HOME;
  const data = xdg?.startsWith('/') ? xdg : join(homedir(), '.local', 'share');
  const copy = join(data, 'toolwright-demo');
  if (existsSync(copy)) return copy;
  try {
    mkdirSync(data, { recursive: true });
    cpSync(join(root, 'examples', 'demo-workspace'), copy, { recursive: true });
    return copy;
  } catch (error) {
    const next = 'Set XDG_DATA_HOME to one that can, or work in a folder of yours: npm start -- --workspace PATH';
    const english = `The demo workspace cannot be copied to ${data} (${error.code}). ${next}`;
    const instead = '请把 XDG_DATA_HOME 设为可写的目录，或打开你自己的目录：npm start -- --workspace 目录';
    console.error(said(english, `无法把演示工作区复制到 ${data}（${error.code}）。${instead}`));
    process.exit(1);
  }
}
