// A newer Node from the package registry, beside the project: as a dependency it would take the place of `node` in our
// scripts. Tools that do not run on the oldest Node we support run on it.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './install.mjs';

export const NEWER_NODE = '24.21.0';

/** The path of the program; undefined when it cannot be installed. */
export function newerNode() {
  const prefix = join(root, '.cache', `node-${NEWER_NODE}`);
  const binary = join(prefix, 'node_modules', 'node', 'bin', 'node');
  if (!existsSync(binary)) installBeside(prefix, [`node@${NEWER_NODE}`], []);
  if (existsSync(binary)) return binary;
  console.error(`Node ${NEWER_NODE} could not be installed from the package registry.`);
  return undefined;
}

const SUITE = ['@modelcontextprotocol/conformance@0.2.0-alpha.12', '@modelcontextprotocol/inspector@2.12.0'];

/** The folder of the official MCP tools, which need the newer Node. */
export function mcpTools() {
  const prefix = join(root, '.cache', 'mcp-tools');
  const folder = join(prefix, 'node_modules', '@modelcontextprotocol');
  if (!existsSync(join(folder, 'inspector')) || !existsSync(join(folder, 'conformance'))) {
    installBeside(prefix, SUITE, ['--ignore-scripts']);
  }
  return folder;
}

function installBeside(prefix, packages, more) {
  console.error(`Installing ${packages.join(', ')} beside the project …`);
  mkdirSync(prefix, { recursive: true });
  const args = ['install', '--prefix', prefix, '--no-save', '--no-audit', '--no-fund', '--loglevel=error', ...more];
  spawnSync('npm', [...args, ...packages], { cwd: prefix, stdio: ['ignore', 'ignore', 'inherit'] });
}
