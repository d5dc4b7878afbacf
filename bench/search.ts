import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { rgPath } from '@vscode/ripgrep';
import glob from 'fast-glob';
import { createFilePolicy } from '../src/kernel/world/file-policy.ts';
import { createToolwright, type Toolwright } from '../src/runtime/create-toolwright.ts';
import { createBubblewrap } from '../src/sandbox/bubblewrap/bubblewrap.ts';
import { builtInTools } from '../src/tools/index.ts';
import { openWorkspace } from '../src/workspace/open-workspace.ts';
import { ripgrepFolder } from '../src/workspace/search/ripgrep.ts';
import { type Benchmark, type Measurement, median, reported, timesLess, timesTheLimit } from './benchmark.ts';

const FOLDERS = 1000;
const FILES_EACH = 50;
const ROUNDS = 9;

export const benchmark: Benchmark = {
  about: 'glob and grep over 50,000 files, sandboxed and newest first, against ripgrep on the host and peers.',
  async run() {
    const top = realpathSync(mkdtempSync(join(tmpdir(), 'bench-search-')));
    const root = plant(join(top, 'ws'));
    const stateDir = join(top, 'state');
    mkdirSync(stateDir);
    const host = { path: process.env['PATH'] ?? '', home: homedir(), stateDir };
    const readOnlyFolders = [await ripgrepFolder()];
    const sandbox = createBubblewrap({ ...host, filePolicy: createFilePolicy(), readOnlyFolders });
    const world = await openWorkspace({ root, sandbox });
    try {
      return await compare(createToolwright({ tools: builtInTools, world }), root);
    } finally {
      world.close();
      await sandbox.close();
      rmSync(top, { recursive: true, force: true });
    }
  },
};

async function compare({ call }: Toolwright, root: string): Promise<Measurement[]> {
  const peer = await mcpFilesystem(root);
  const ways = {
    glob: () => call('glob', { pattern: '**/*.ts' }),
    rgFiles: () => ripgrep(root, ['--files', '--glob=**/*.ts', '.']),
    fastGlob: () => glob('**/*.ts', { cwd: root }),
    mcpSearch: () => peer.callTool({ name: 'search_files', arguments: { path: root, pattern: '**/*.ts' } }),
    everything: () => call('glob', { pattern: '**/*' }),
    rgEverything: () => ripgrep(root, ['--files', '.']),
    grep: () => call('grep', { pattern: 'NEEDLE' }),
    rg: () => ripgrep(root, ['--line-number', 'NEEDLE', '.']),
    grepInclude: () => call('grep', { pattern: 'NEEDLE', include: '*.ts' }),
    rgInclude: () => ripgrep(root, ['--line-number', '--glob=*.ts', 'NEEDLE', '.']),
  };
  const samples = Object.fromEntries(Object.keys(ways).map((name) => [name, [] as number[]]));
  for (let round = -1; round < ROUNDS; round++) {
    for (const [name, way] of Object.entries(ways)) {
      const start = performance.now();
      const result = (await way()) as { ok?: boolean; text?: string } | unknown;
      if ((result as { ok?: boolean } | undefined)?.ok === false) throw new Error(`${name}: ${JSON.stringify(result)}`);
      if (round >= 0) samples[name]?.push(performance.now() - start);
    }
  }
  await peer.close();
  const time = (name: keyof typeof ways) => median(samples[name] ?? []);
  return [
    timesTheLimit(
      'glob of 20,000 among 50,000 files, against rg --files on the host',
      time('glob'),
      time('rgFiles'),
      'ms',
      1.3,
    ),
    timesTheLimit('grep over 50,000 files, against rg on the host', time('grep'), time('rg'), 'ms', 1.3),
    timesTheLimit('grep with include, against rg with the same', time('grepInclude'), time('rgInclude'), 'ms', 1.3),
    reported('glob of all 50,000 files, against rg --files', time('everything'), 'ms', time('rgEverything')),
    timesLess('glob, against fast-glob', time('glob'), time('fastGlob'), 'ms', 1),
    timesLess("glob, against the MCP filesystem server's search", time('glob'), time('mcpSearch'), 'ms', 1),
  ];
}

function plant(root: string): string {
  for (let folder = 0; folder < FOLDERS; folder++) {
    const path = join(root, `pkg${folder % 50}`, `mod${folder}`, 'src');
    mkdirSync(path, { recursive: true });
    for (let file = 0; file < FILES_EACH; file++) {
      const extension = ['ts', 'ts', 'js', 'py', 'md'][file % 5];
      const lines = Array.from(
        { length: 12 },
        (_, line) => `export function f${file}_${line}(a) { return a + ${line}; }\n`,
      );
      const needle = (folder * FILES_EACH + file) % 500 === 0 ? 'NEEDLE\n' : '';
      writeFileSync(join(path, `file${file}.${extension}`), lines.join('') + needle);
    }
  }
  writeFileSync(join(root, '.gitignore'), 'node_modules\n');
  return root;
}

/** The program itself, with its whole output read, as somebody without us would do it. */
function ripgrep(cwd: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(rgPath, ['--no-config', '--no-require-git', ...args], {
      cwd,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('error', reject);
    child.on('close', () => resolve(Buffer.concat(chunks).toString('utf8')));
  });
}

async function mcpFilesystem(root: string): Promise<Client> {
  const server = new URL('../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js', import.meta.url);
  const client = new Client({ name: 'bench', version: '1.0.0' });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [server.pathname, root], stderr: 'ignore' }),
  );
  return client;
}
