import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Json, TestServer } from './test-server.ts';

const WORDS = 'the plan of the merger';

async function start(mode: string): Promise<TestServer> {
  const server = new TestServer({ flags: { deny: 'read_file(docs/private/**)', mode } });
  mkdirSync(join(server.workspace, 'docs/private/deep'), { recursive: true });
  for (const path of ['docs/private/a.md', 'docs/private/deep/b.md'])
    writeFileSync(join(server.workspace, path), `${WORDS}\n`);
  writeFileSync(join(server.workspace, 'docs/open.md'), 'the open plan\n');
  symlinkSync('docs/private/a.md', join(server.workspace, 'link.md'));
  linkSync(join(server.workspace, 'docs/private/a.md'), join(server.workspace, 'other.md'));
  execFileSync('git', ['init', '-q'], { cwd: server.workspace });
  await server.start();
  return server;
}

/** All that came back from a call which nobody answers. */
async function outcomeOf(server: TestServer, tool: string, args: Json): Promise<{ code?: string; told: string }> {
  const before = (await server.pending()).length;
  const { body } = await server.post('/v1/calls', { tool, args, wait: false });
  for (;;) {
    const { body: now } = await server.get(`/v1/calls/${body.id}`);
    const isAsked = now.state === 'awaiting_approval' && (await server.pending()).length > before;
    if (now.finishedAt !== null || isAsked) return { code: now.outcome?.error?.code, told: JSON.stringify(now) };
  }
}

test.each(['ask', 'auto'])(
  'in mode %s a file that a rule keeps from read_file is read in no other way',
  async (mode) => {
    await using server = await start(mode);
    const patch = '*** Begin Patch\n*** Update File: docs/private/a.md\n@@\n-the\n+a\n*** End Patch\n';
    const refused: [string, Json][] = [
      ['read_file', { path: 'docs/private/a.md' }],
      ['read_file', { path: './docs/../docs/private/deep/b.md' }],
      ['read_file', { path: 'link.md' }],
      ['read_file', { path: 'other.md' }],
      ['edit_file', { path: 'docs/private/a.md', edits: [{ old: 'the', new: 'a' }] }],
      ['move_file', { from: 'docs/private/a.md', to: 'moved.md' }],
      ['write_file', { path: 'docs/private/a.md', content: 'x' }],
      ['delete_file', { path: 'docs/private/a.md' }],
      ['apply_patch', { patch }],
      ['bash', { command: 'cat docs/private/a.md' }],
    ];
    for (const [tool, args] of refused) {
      const { code, told } = await outcomeOf(server, tool, args);
      expect(told, tool).not.toContain(WORDS);
      expect(code, `${tool} ${JSON.stringify(args)}: ${told}`).toBe('PERMISSION_DENIED');
    }
    const code = "import glob; print([open(f, errors='replace').read() for f in glob.glob('**/*.md', recursive=True)])";
    const empty: [string, Json][] = [
      ['grep', { pattern: 'plan' }],
      ['grep', { pattern: 'merger', path: 'docs', output: 'count' }],
      ['bash', { command: 'grep -rn plan . || true' }],
      ['bash', { command: 'cd docs; for f in private/*; do cat "$f"; done; cat ../other.md ../link.md' }],
      ['bash', { command: 'cp -r docs copy && grep -rn merger copy || true' }],
      ['run_code', { language: 'python', code }],
      ['run_code', { language: 'bash', code: 'cat docs/priv*/a.md' }],
      ['glob', { pattern: '**/*.md' }],
      ['list_directory', { path: 'docs' }],
    ];
    for (const [tool, args] of empty) {
      const { told } = await outcomeOf(server, tool, args);
      expect(told, `${tool} ${JSON.stringify(args)}`).not.toContain(WORDS);
      expect(told.includes('merger') && !JSON.stringify(args).includes('merger'), tool).toBe(false);
    }
    expect((await outcomeOf(server, 'grep', { pattern: 'plan' })).told).toContain('docs/open.md');
    expect((await outcomeOf(server, 'bash', { command: 'cat docs/open.md' })).told).toContain('the open plan');
    expect(readdirSync(join(server.workspace, 'docs/private')).sort()).toEqual(['a.md', 'deep']);
  },
);

test('the refusal names the rule, and no decision of a person lifts it', async () => {
  await using server = await start('ask');
  const { told } = await outcomeOf(server, 'read_file', { path: 'docs/private/a.md' });
  expect(told).toContain('The rule read_file(docs/private/**) refuses it.');
  const { told: searched } = await outcomeOf(server, 'edit_file', {
    path: 'docs/private/a.md',
    edits: [{ old: 'the', new: 'a' }],
  });
  expect(searched).toContain('the rule read_file(docs/private/**) refuses to read it');
  expect(searched).toContain('A user can change that in the configuration (sensitiveFiles, deny).');
  const freed = await server.post('/v1/paths', { path: 'docs/private/a.md', kind: 'no-secret' });
  expect(freed.status).toBe(403);
});
