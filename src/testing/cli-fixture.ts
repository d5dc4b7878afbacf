import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A home and a workspace for a command line, and the environment that points to them. */
export interface CliFixture extends Disposable {
  readonly top: string;
  readonly workspace: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export function createCliFixture(path: string | undefined, files: Readonly<Record<string, string>> = {}): CliFixture {
  const top = mkdtempSync(join(tmpdir(), 'toolwright-cli-'));
  const workspace = join(top, 'ws');
  mkdirSync(workspace);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(workspace, name)), { recursive: true });
    writeFileSync(join(workspace, name), content);
  }
  const env = {
    PATH: path,
    HOME: join(top, 'home'),
    XDG_STATE_HOME: join(top, 'state'),
    XDG_CONFIG_HOME: join(top, 'config'),
    LANG: 'C.UTF-8',
  };
  return { top, workspace, env, [Symbol.dispose]: () => rmSync(top, { recursive: true, force: true }) };
}
