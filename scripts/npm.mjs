import { spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { localized } from './localized.mjs';

/** As `spawnSync`, for npm run by the given Node: npm compares what packages declare with the Node it runs on. */
export function runNpm(node, args, options) {
  const [program, ...before] = findNpm(node);
  const env = { ...process.env, PATH: [dirname(node), process.env.PATH].join(delimiter) };
  return spawnSync(program, [...before, ...args], { env, ...options });
}

/** The npm that started us, else the first on the search path. */
function findNpm(node) {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const places = [process.env.npm_execpath ?? '', ...folders.map((folder) => join(folder, 'npm'))];
  const found = places.filter((place) => place !== '' && existsSync(place)).map((place) => realpathSync(place));
  const script = found.find((place) => /^npm-cli\.c?js$/.test(basename(place)));
  if (script !== undefined) return [node, script];
  const program = found.find((place) => basename(place) === 'npm');
  if (program !== undefined) return [program];
  console.error(localized('npm is not on the search path: install it.', '找不到 npm：请先安装。'));
  process.exit(1);
}
