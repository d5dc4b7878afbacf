// `npm start [-- options]`: builds what is missing, then starts the server on a copy of the demo workspace, or on the
// folders named with --workspace.
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { build } from './build.mjs';
import { localized } from './localized.mjs';
import { root } from './root.mjs';

build();
const options = process.argv.slice(2);
const named = options.some((option) => /^(-w|--workspace(=.*)?)$/.test(option));
const place = named ? [] : ['--workspace', demoCopy()];
process.argv.splice(2, Number.POSITIVE_INFINITY, 'start', ...place, ...options);
await import(new URL('../dist/cli.js', import.meta.url).href);

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
    console.error(localized(english, `无法把演示工作区复制到 ${data}（${error.code}）。${instead}`));
    process.exit(1);
  }
}
