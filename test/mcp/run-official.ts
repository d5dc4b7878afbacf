import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { mcpTools } from '../../scripts/mcp-tools.mjs';

export const root = new URL('../../', import.meta.url).pathname;

const PROGRAMS = { conformance: 'dist/index.js', inspector: 'clients/launcher/build/index.js' } as const;

export interface ProgramResult {
  readonly code: number | null;
  readonly output: string;
}

/** Runs one of the official MCP tools. */
export function runOfficial(name: keyof typeof PROGRAMS, args: readonly string[]): Promise<ProgramResult> {
  const cwd = join(root, '.cache', 'mcp-runs');
  mkdirSync(cwd, { recursive: true });
  const env = { ...process.env, NO_COLOR: '1', NODE_OPTIONS: '', XDG_CONFIG_HOME: join(cwd, 'config') };
  return ended(spawn(process.execPath, [join(mcpTools(), name, PROGRAMS[name]), ...args], { cwd, env }));
}

function ended(child: ChildProcess): Promise<ProgramResult> {
  const parts: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (part: Buffer) => parts.push(String(part)));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output: parts.join('') }));
  });
}
