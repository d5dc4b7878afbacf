import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Io } from '../io.ts';

/** The editor that the person chose, as a shell command. */
export function editorOf({ env, stdin }: Io): string | undefined {
  return stdin.isTTY ? env.VISUAL || env.EDITOR || undefined : undefined;
}

/** Opens the text in the editor, in a file that only the user can read. Undefined when the editor failed. */
export async function editInEditor(
  { env, onInterrupt }: Io,
  editor: string,
  text: string,
): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-edit-'));
  const file = join(folder, 'arguments.json');
  // Ctrl-C belongs to the editor.
  const unlisten = onInterrupt(() => {});
  try {
    writeFileSync(file, text, { mode: 0o600 });
    const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit', env });
    const [code] = await once(child, 'close');
    return code === 0 ? readFileSync(file, 'utf8') : undefined;
  } finally {
    unlisten();
    rmSync(folder, { recursive: true, force: true });
  }
}
