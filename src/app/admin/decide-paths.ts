import { hash } from 'node:crypto';
import { lstatSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join, posix, relative, resolve } from 'node:path';
import { catchErrno } from '../../host/errno.ts';
import { shortPath } from '../../host/parse-path.ts';
import type { PathDecisionRecord } from '../../kernel/call/ledger.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { isOwnFile, isUsersOwnRule } from '../../kernel/world/decided-files.ts';
import type { PathDecision } from '../../kernel/world/path-decisions.ts';
import type { App } from '../open-app.ts';
import { workspaceId } from '../workspace-id.ts';

export type NewDecision = Pick<PathDecision, 'path' | 'kind'> & {
  /** Of the text that the person saw. Left out: of the file as it is now. */
  readonly digest?: string | undefined;
};

/** The decisions that hold in these workspaces, the oldest first. */
export async function listDecisions([app, ...others]: readonly [App, ...App[]]): Promise<PathDecisionRecord[]> {
  const theirs = new Set([app, ...others].map(({ workspace }) => workspaceId(workspace.root)));
  return (await app.store.pathDecisions()).filter(({ workspace }) => theirs.has(workspace));
}

/**
 * Records a person's decision about a path of the workspace; a later one of the same kind replaces it. Fails where it would have
 * no effect: outside the workspace, for Toolwright's own files and for what the user's configuration keeps from tools.
 */
export async function decidePath(app: App, decision: NewDecision, by: string): Promise<Result<PathDecisionRecord>> {
  const { kind } = decision;
  const named = placeOf(app, decision.path);
  if (!named.ok) return named;
  const path = named.value;
  const refused = refuseDecision(app, path);
  if (refused !== undefined) return refused;
  const digest = kind === 'agreed-text' ? agreedDigest(app, path, decision.digest) : ok(null);
  if (!digest.ok) return digest;
  const workspace = workspaceId(app.workspace.root);
  // The same for the same decision: two processes that record it at once make one of it, and taking it back takes all back.
  const id = hash('sha256', JSON.stringify([workspace, kind, path]), 'hex').slice(0, 16);
  const made = { id, workspace, path, kind, digest: digest.value, by, at: Date.now() };
  const { id: decisionId, at, ...data } = made;
  await app.store.record({ type: 'path.decided', at, data: { decisionId, ...data } });
  await app.decisions.reload();
  return ok(made);
}

/** Takes back the decision with this id, or all about this path. */
export async function takeBack(app: App, given: string, by: string): Promise<Result<readonly PathDecisionRecord[]>> {
  const known = await listDecisions([app]);
  const path = relativePath(app, given);
  const meant = known.filter((decision) => decision.id === given || decision.path === path);
  if (meant.length === 0) {
    const next = 'List them with toolwright paths.';
    return fail('INVALID_INPUT', `There is no decision about ${shortPath(given)} in this workspace. ${next}`);
  }
  for (const { id } of meant)
    await app.store.record({ type: 'path.taken_back', at: Date.now(), data: { decisionId: id, by } });
  await app.decisions.reload();
  return ok(meant);
}

/** The path as the file tools see it: folders on the way are followed, the last name is not. */
function placeOf(app: App, given: string): Result<string> {
  const { root } = app.workspace;
  const asked = resolve(root, given);
  return catchErrno(given, () => {
    const real = join(realpathSync(dirname(asked)), basename(asked));
    const path = posix.normalize(relative(root, real));
    if (asked === root || path === '.' || path === '..' || path.startsWith('../'))
      return fail('INVALID_PATH', `${shortPath(given)} is not inside the workspace: name a file or a folder in it.`);
    const isSymlink = lstatSync(real).isSymbolicLink();
    // A name that is kept from tools itself must be freed too.
    if (!isSymlink || app.files.judge(path).access === 'hidden') return ok(path);
    const target = relative(root, realpathSync(real));
    return fail('INVALID_PATH', `${shortPath(path)} is a symlink to ${shortPath(target)}: decide about that path.`);
  });
}

function relativePath({ workspace: { root } }: App, given: string): string {
  return relative(root, resolve(root, given));
}

function refuseDecision({ files, hider }: App, path: string): Result<never> | undefined {
  const short = shortPath(path);
  if (isOwnFile(files, path))
    return fail('PERMISSION_DENIED', `${short} is Toolwright's own: no decision gives it to tools or commands.`);
  if (isUsersOwnRule(files, path)) {
    const next = 'Change it there (sensitiveFiles, deny).';
    return fail(
      'PERMISSION_DENIED',
      `The configuration keeps ${short} from tools, and no decision lifts that. ${next}`,
    );
  }
  if (hider.holds(path))
    return fail('INVALID_INPUT', `The path ${hider.hide(short)} has a secret in it, and records are read by others.`);
  return undefined;
}

function agreedDigest({ workspace: { root } }: App, path: string, seen: string | undefined): Result<string> {
  return catchErrno(path, () => {
    const full = join(root, path);
    if (!lstatSync(full).isFile()) return fail('INVALID_PATH', `${shortPath(path)} is no file: agree to single files.`);
    return ok(seen ?? hash('sha256', readFileSync(full), 'hex'));
  });
}
