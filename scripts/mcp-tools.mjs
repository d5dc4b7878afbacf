import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { runNpm } from './npm.mjs';
import { root } from './root.mjs';

const TOOLS = ['@modelcontextprotocol/conformance@0.2.0-alpha.12', '@modelcontextprotocol/inspector@2.12.0'];

/** The folder of the official MCP tools. They lie beside the project: as its dependencies they would double its size. */
export function mcpTools() {
  const prefix = join(root, '.cache', 'mcp-tools');
  const folder = join(prefix, 'node_modules', '@modelcontextprotocol');
  if (existsSync(join(folder, 'inspector')) && existsSync(join(folder, 'conformance'))) return folder;
  console.error(`Installing ${TOOLS.join(', ')} beside the project …`);
  mkdirSync(prefix, { recursive: true });
  const quiet = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  runNpm(process.execPath, ['install', '--prefix', prefix, ...quiet, ...TOOLS], {
    cwd: prefix,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return folder;
}
