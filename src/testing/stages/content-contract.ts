import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, linkSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxCheck } from '../sandbox-contract.ts';
import { check, createRunner, filled, type StageSubject, textOf } from './stage-runner.ts';

/** A part of each secret below, in no encoding. */
export const HUSHED = 'hush7Qz';
const BODY = `${HUSHED}9bLw2Kd3Xv8RmT5yPq1Nc6Wf4`;
export const TOKEN = `ghp_${BODY}`;
export const PRIVATE_KEY = `-----BEGIN RSA PRIVATE KEY-----\n${BODY}${BODY}\n-----END RSA PRIVATE KEY-----\n`;

const SECRETS = {
  'notes.txt': `Please keep this:\n${PRIVATE_KEY}`,
  'project-1a2b.json': JSON.stringify({ type: 'service_account', private_key: PRIVATE_KEY }),
  'src/config.ts': `export const token = '${TOKEN}';\n`,
  'deep/er/settings.yaml': `api:\n  password: Tu${BODY}\n`,
};
const PUBLIC = {
  '.env.test': 'PORT=3000\nNODE_ENV=test\n',
  'server.pem': '-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUQ\n-----END CERTIFICATE-----\n',
  'plain.txt': 'plain\n',
};
const READS =
  'cat notes.txt *.json src/* deep/er/* other.txt ln; grep -r hush7 . ; tar c . | strings | grep hush7; chmod 644 notes.txt; cat notes.txt; mv src/config.ts c; chmod 644 c; cat c';

/** The contract of files whose content is a secret, whatever their names: a run cannot read them, and they are no change of it. */
export function secretContentContract(subject: StageSubject): SandboxCheck[] {
  const { staged } = createRunner(subject);
  const show = async (workspace: string, script: string): Promise<string> =>
    textOf(await staged(script, { workspace }));

  return [
    check('hides a file whose content is a secret, under all of its names', async () => {
      const workspace = filled(subject.workspace(), { ...SECRETS, ...PUBLIC });
      linkSync(join(workspace, 'notes.txt'), join(workspace, 'other.txt'));
      symlinkSync('notes.txt', join(workspace, 'ln'));
      for (const mounts of ['read', 'staged'] as const) {
        const ran = await staged(READS, { workspace, mounts });
        assert.ok(!textOf(ran).includes(HUSHED), textOf(ran).slice(0, 500));
        const found = spawnSync('grep', ['-rls', HUSHED, ran.staged?.content ?? '/none']);
        assert.equal(found.stdout.toString(), '', 'a secret lies in the stage');
      }
      const untouched = await staged('cat *.txt; ls -R >/dev/null; touch new', { workspace });
      assert.deepEqual(
        untouched.staged?.changes.map(({ kind, path }) => `${kind} ${path}`),
        ['created new'],
      );
    }),
    check('shows a file with the name of a secret whose content is public', async () => {
      const workspace = filled(subject.workspace(), PUBLIC);
      assert.equal(await show(workspace, 'cat .env.test server.pem plain.txt'), Object.values(PUBLIC).join(''));
      writeFileSync(join(workspace, '.env.test'), `DB_PASSWORD=Tu${BODY}\n`);
      assert.ok(!(await show(workspace, 'cat .env.test')).includes(HUSHED));
    }),
    check('goes by the content at the moment of the run, however the host changed it right before', async () => {
      const workspace = filled(subject.workspace(), { 'a.txt': 'plain', 'd/b.txt': 'plain', 'e/c.txt': 'plain' });
      const at = (path: string): string => join(workspace, path);
      const edits: [string, () => void, 'hidden' | 'shown'][] = [
        ['a.txt', () => writeFileSync(at('a.txt'), TOKEN), 'hidden'],
        ['a.txt', () => writeFileSync(at('a.txt'), `no ${HUSHED}`), 'shown'],
        ['a.txt', () => appendFileSync(at('a.txt'), `\n${PRIVATE_KEY}`), 'hidden'],
        ['d/b.txt', () => save(at('d/b.txt'), TOKEN), 'hidden'],
        ['d/b.txt', () => save(at('d/b.txt'), `no ${HUSHED}`), 'shown'],
        ['new.txt', () => writeFileSync(at('new.txt'), TOKEN), 'hidden'],
        ['f/deep/x', () => filled(workspace, { 'f/deep/x': TOKEN }), 'hidden'],
        ['g/deep/x', () => renameSync(at('f'), at('g')), 'hidden'],
        ['g/deep/x', () => writeFileSync(at('g/deep/x'), `no ${HUSHED}`), 'shown'],
        ['e/c.txt', () => swap(workspace), 'hidden'],
        ['e/c.txt', () => writeFileSync(at('e/c.txt'), `no ${HUSHED}`), 'shown'],
      ];
      for (const [path, edit, expected] of edits) {
        edit();
        const text = await show(workspace, `cat ${path}`);
        assert.equal(text.includes(HUSHED) ? 'shown' : 'hidden', expected, `${path}: ${text}`);
      }
    }),
    check('says which hidden file a command could not open, why, and how a person frees it', async () => {
      const workspace = filled(subject.workspace(), SECRETS);
      const { notes } = await staged('cat plain notes.txt src/config.ts', { workspace });
      assert.match(notes.join('\n'), /notes\.txt is hidden from commands: it holds a private key\. .*toolwright paths/);
      assert.match(notes.join('\n'), /src\/config\.ts is hidden from commands: it holds a GitHub token\./);
      assert.deepEqual((await staged('true', { workspace })).notes, []);
    }),
  ];

  function swap(workspace: string): void {
    filled(workspace, { 'h/c.txt': TOKEN });
    rmSync(join(workspace, 'e'), { recursive: true });
    renameSync(join(workspace, 'h'), join(workspace, 'e'));
  }
}

/** As editors save. */
function save(path: string, text: string): void {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(`${path}.next`, text);
  renameSync(`${path}.next`, path);
}
