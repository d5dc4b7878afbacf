// Writes the generated docs; with --check, only says which are out of date.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { fileSchema } from '../src/app/config/settings.ts';
import type { Tool } from '../src/kernel/tool/tool.ts';
import { builtInTools } from '../src/tools/index.ts';
import { root } from './root.mjs';
import { walk } from './walk.ts';

const pages: [path: string, write: (now: string) => string][] = [
  ['docs/tools.md', () => toolsPage(builtInTools.filter(({ madeBy }) => madeBy === undefined))],
  ['docs/architecture.md', (now) => withGenerated(now, { walk, imports: importGraph })],
  ['docs/config.schema.json', () => formatted('config.schema.json', z.toJSONSchema(fileSchema))],
];

const stale = pages.filter(([path, write]) => {
  const file = join(root, path);
  const now = existing(file);
  const next = write(now);
  if (now !== next && !process.argv.includes('--check')) writeFileSync(file, next);
  return now !== next;
});
if (process.argv.includes('--check') && stale.length > 0) {
  console.log(`Out of date: ${stale.map(([path]) => path).join(', ')}. Run npm run docs.`);
  process.exit(1);
}

function toolsPage(tools: readonly Tool[]): string {
  const head = '# Tools\n\nGenerated from `src/tools/`; change the tool, then run `npm run docs`.\n';
  return [head, ...tools.map(toolSection)].join('\n');
}

function toolSection({ name, description, category, effect, input }: Tool): string {
  const properties = Object.entries((input.json.properties ?? {}) as Record<string, Record<string, unknown>>);
  const required = (input.json.required ?? []) as string[];
  const rows = properties.map(([parameter, schema]) => {
    const must = required.includes(parameter)
      ? 'required'
      : schema.default === undefined
        ? ''
        : `\`${JSON.stringify(schema.default)}\``;
    return `| \`${parameter}\` | ${schema.type ?? 'any'} | ${must} | ${schema.description ?? ''} |`;
  });
  const table = ['| parameter | type | default | |', '|---|---|---|---|', ...rows].join('\n');
  return `## ${name}\n\n${description}\n\nCategory ${category}, effect ${effect}.\n\n${table}\n`;
}

function formatted(name: string, json: unknown): string {
  const biome = join(root, 'node_modules', '.bin', 'biome');
  const args = ['format', `--stdin-file-path=${name}`];
  return execFileSync(biome, args, { cwd: root, encoding: 'utf8', input: JSON.stringify(json, null, 2) });
}

function importGraph(): string {
  const depcruise = join(root, 'node_modules', '.bin', 'depcruise');
  const exclude = '\\.test\\.ts$|^src/testing|node_modules|^node:';
  const args = ['src', '--config', '.dependency-cruiser.cjs', '--exclude', exclude, '--output-type', 'json'];
  const { modules } = JSON.parse(execFileSync(depcruise, args, { cwd: root, encoding: 'utf8', maxBuffer: 1e8 }));
  const edges = new Set<string>();
  for (const { source, dependencies } of modules as { source: string; dependencies: { resolved: string }[] }[]) {
    for (const { resolved } of dependencies) {
      const [from, to] = [folderOf(source), folderOf(resolved)];
      if (from && to && from !== to) edges.add(`  ${from} --> ${to}`);
    }
  }
  return ['```mermaid', 'graph TD', ...[...edges].sort(), '```'].join('\n');
}

function folderOf(path: string): string | undefined {
  const match = /^src\/([^/]+)/.exec(path);
  return match?.[1]?.replace('.ts', '');
}

/** Each part stands between its own two marks; it is written anew from its present text. */
function withGenerated(page: string, parts: Record<string, (existing: string) => string>): string {
  return Object.entries(parts).reduce((text, [name, write]) => {
    const [start, end] = [`<!-- generated: ${name} -->\n`, '\n<!-- end -->'];
    const [before = '', rest = ''] = text.split(start);
    const at = rest.indexOf(end);
    return `${before}${start}${write(rest.slice(0, at))}${rest.slice(at)}`;
  }, page);
}

function existing(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
