import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const folder = new URL('../../docs/clients/', import.meta.url).pathname;
const command = readFileSync(new URL('../../src/cli/commands/mcp.ts', import.meta.url), 'utf8');

describe('the pages for clients', () => {
  test.each(readdirSync(folder))('%s has a configuration that starts our command', (name) => {
    const page = readFileSync(join(folder, name), 'utf8');
    const [, kind, block = ''] = /```(json|toml)\n([\s\S]*?)```/.exec(page) ?? [];
    const entry = kind === 'json' ? onlyServer(JSON.parse(block)) : fromToml(block);
    expect(entry.command).toBe('npx');
    expect(entry.args.slice(0, 4)).toEqual(['-y', 'toolwright', 'mcp', '--workspace']);
    expect(entry.args).toHaveLength(5);
  });

  test('there is one for each client we name, and the command has the options they use', () => {
    expect(readdirSync(folder).map((name) => name.replace('.md', ''))).toEqual([
      'claude-code',
      'claude-desktop',
      'codex-cli',
      'cursor',
      'gemini-cli',
      'vs-code',
      'zed',
    ]);
    expect(command).toMatch(/--workspace <folder>[\s\S]*--set <name=value>/);
  });
});

interface Entry {
  command: string;
  args: string[];
}

function onlyServer(config: Record<string, Record<string, Entry>>): Entry {
  const [servers] = Object.values(config);
  const entry = servers?.['toolwright'];
  if (entry === undefined) throw new Error('it names no server toolwright');
  return entry;
}

function fromToml(block: string): Entry {
  const value = (key: string) => JSON.parse(new RegExp(`^${key} = (.*)$`, 'm').exec(block)?.[1] ?? 'null');
  return { command: value('command'), args: value('args') };
}
