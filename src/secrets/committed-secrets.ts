import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { quoteForShell } from '../kernel/text/escape.ts';
import type { FilePolicy } from '../kernel/world/file-policy.ts';
import type { Sandbox } from '../kernel/world/sandbox.ts';

/** Long, since no command can commit a sensitive file: the sandbox hides its content. */
const FRESH_MS = 30_000;
const MAX_MS = 5_000;
const UNKNOWN_FILES = 'files that could not be looked up';

/**
 * Finds sensitive files that a repository tracks, now or in its history. The sandbox hides files of the working tree, but
 * committed files stand in git's objects, where nothing can hide them.
 */
export class CommittedSecrets {
  readonly #sandbox: Sandbox;
  readonly #policy: FilePolicy;
  readonly #known = new Map<string, { at: number; found: Promise<string | undefined> }>();

  constructor(sandbox: Sandbox, policy: FilePolicy) {
    this.#sandbox = sandbox;
    this.#policy = policy;
  }

  /** Returns the name of one of them, or words for files that could not be looked up. Undefined: there is none. */
  async find(root: string, folder: string, env: Readonly<Record<string, string>>): Promise<string | undefined> {
    const at = posix.relative(root, posix.resolve(root, folder));
    if (at === '..' || at.startsWith('../') || !isInRepository(root, at)) return undefined;
    const key = `${root}\0${at}`;
    const known = this.#known.get(key);
    if (known !== undefined && performance.now() - known.at < FRESH_MS) return known.found;
    const found = this.#look(root, at, env);
    this.#known.set(key, { at: performance.now(), found });
    // A shortage is over soon, so its result is not kept for half a minute.
    const forget = () => this.#known.delete(key);
    found.then((secret) => secret === UNKNOWN_FILES && forget(), forget);
    return found;
  }

  async #look(root: string, cwd: string, env: Readonly<Record<string, string>>): Promise<string | undefined> {
    const hidden = this.#policy.rules.filter(({ access }) => access === 'hidden');
    const specs = hidden.flatMap(({ pattern }) => pathspecs(pattern)).map(quoteForShell);
    const ran = await this.#sandbox.run({
      command: { script: `cd "$(git rev-parse --show-toplevel)" || exit 1\nS=(${specs.join(' ')})\n${SCRIPT}` },
      workspace: root,
      cwd: cwd === '' ? '.' : cwd,
      mounts: 'read',
      env,
      limits: { timeMs: MAX_MS },
      tag: 'tracked-secrets',
    });
    if (!ran.ok) return UNKNOWN_FILES;
    const { exitCode, output } = ran.value;
    const names = Buffer.from(output.log.read(0, output.log.keptBytes, 'stdout'))
      .toString('utf8')
      .split('\0');
    output.log.dispose();
    const secret = names.find((name) => name !== '' && this.#policy.judge(name.trim()).access === 'hidden');
    return secret?.trim() ?? (exitCode === 0 ? undefined : `${UNKNOWN_FILES} in time`);
  }
}

const SCRIPT = `git ls-files -z -- "\${S[@]}" &&
git log --all --reflog --full-history -m --format= --name-only -z --no-renames -- "\${S[@]}"`;

/** A name matches at any depth, a folder with everything in it. Letter case does not count. */
function pathspecs(pattern: string): string[] {
  const path = pattern.replace(/^\/+|\/+$/g, '');
  const isName = !pattern.replace(/\/+$/, '').includes('/');
  const glob = isName ? `**/${path}` : path;
  return [`:(top,icase,glob)${glob}`, `:(top,icase,glob)${glob}/**`];
}

function isInRepository(root: string, folder: string): boolean {
  for (let at = folder; ; at = posix.dirname(at)) {
    if (existsSync(join(root, at, '.git'))) return true;
    if (at === '' || at === '.') return false;
  }
}
