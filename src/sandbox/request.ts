import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { realPath, statOf } from '../host/files.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import { DEFAULT_LIMITS, type Limits, type RunRequest } from '../kernel/world/sandbox.ts';
import { contentOf } from './stage/stage-folder.ts';
import { isSystem, isWithin } from './toolchains.ts';

/** A request whose folders exist, are resolved, and may be used. */
export interface CheckedRequest {
  readonly workspace: string;
  /** The path in the request, when symlinks lead from there to the workspace. */
  readonly alias: string | null;
  readonly cwd: string;
  readonly limits: Limits;
}

const NEVER_A_WORKSPACE = ['/', '/var', '/home', '/tmp', '/root'];
const NEVER_WITHIN = ['/etc', '/proc', '/sys', '/dev', '/run', '/boot', '/var/lib'];
/** Folders whose content is hidden or protected inside a workspace; as a workspace it would be neither. */
const PRIVATE_NAMES = ['.git', '.ssh', '.gnupg', '.aws', '.kube', '.toolwright'];

/** Checks a request. Private folders must not become visible: the home folder, and the sandbox's own. */
export function checkRequest(request: RunRequest, privateFolders: readonly string[]): Result<CheckedRequest> {
  const workspace = realFolder(request.workspace);
  if (workspace === null) {
    return fail(
      'INVALID_PATH',
      `The workspace ${request.workspace} is not a folder: give the path of one that exists.`,
    );
  }
  if (belongsToSystem(workspace, privateFolders)) {
    return fail('INVALID_PATH', `${workspace} belongs to the system: choose a folder of your own as the workspace.`);
  }
  const privateName = workspace.split('/').find((name) => PRIVATE_NAMES.includes(name.toLowerCase()));
  if (privateName !== undefined) {
    return fail(
      'INVALID_PATH',
      `${workspace} lies in ${privateName}, which a run must not change: choose another folder.`,
    );
  }
  if (!mayBeListed(workspace)) {
    return fail('INVALID_PATH', `${workspace} cannot be listed: give yourself read and search permission on it.`);
  }
  const exposed = privateFolders.find(
    (folder) => isWithin(folder, workspace) || isWithin(realPath(folder) ?? folder, workspace),
  );
  if (exposed !== undefined) {
    return fail(
      'INVALID_PATH',
      `${workspace} contains ${exposed}, which a run must not see: choose a folder inside it.`,
    );
  }
  const wanted = resolve(workspace, request.cwd ?? '.');
  const cwd = realFolder(wanted) ?? (isInStage(request, wanted.slice(workspace.length + 1)) ? wanted : null);
  if (cwd === null || !isWithin(cwd, workspace)) {
    return fail(
      'INVALID_PATH',
      `The folder ${request.cwd} is not in the workspace: give one relative to ${workspace}.`,
    );
  }
  const words = wordsOf(request.command);
  if (words.length === 0 || words[0] === '') {
    return fail('INVALID_INPUT', 'There is no command: give a program, or a script.');
  }
  const texts = [...words, ...Object.entries(request.env ?? {}).flat(), request.tag];
  if (texts.some((text) => text.includes('\0'))) {
    return fail('INVALID_INPUT', 'Commands and environments cannot contain the NUL character: remove it.');
  }
  const badName = Object.keys(request.env ?? {}).find((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name));
  if (badName !== undefined) {
    return fail('INVALID_INPUT', `'${badName}' cannot be an environment variable: use letters, digits and _.`);
  }
  const limits = checkLimits(request.limits ?? {});
  return limits.ok
    ? ok({ workspace, alias: aliasOf(request.workspace, workspace), cwd, limits: limits.value })
    : limits;
}

/** Whether an earlier run of the stage, or of one below it, made this folder. */
function isInStage({ stage }: RunRequest, path: string): boolean {
  const stages = stage === undefined ? [] : [stage.folder, ...(stage.below ?? [])];
  return stages.some((folder) => statOf(join(contentOf(folder), path))?.isDirectory() === true);
}

function aliasOf(given: string, workspace: string): string | null {
  const path = resolve(given);
  const isTaken = isSystem(path) || [...NEVER_WITHIN, '/var/tmp', workspace].some((folder) => isWithin(path, folder));
  return isTaken ? null : path;
}

/** The home folder of root counts only for root. */
function belongsToSystem(workspace: string, privateFolders: readonly string[]): boolean {
  const isAtHome =
    privateFolders.length === 0 || privateFolders.some((folder) => isWithin(realPath(folder) ?? folder, '/root'));
  if (isWithin(workspace, '/root') && !isAtHome) return true;
  if (NEVER_WITHIN.some((folder) => isWithin(workspace, folder))) return true;
  return NEVER_A_WORKSPACE.includes(workspace) || isSystem(workspace);
}

function checkLimits(given: Partial<Limits>): Result<Limits> {
  const chosen = Object.entries(given).filter(([, value]) => value !== undefined);
  const wrong = chosen.find(([, value]) => !Number.isFinite(value) || value < 0);
  if (wrong !== undefined) {
    return fail('INVALID_INPUT', `The limit ${wrong[0]} must be a number from 0 up, got ${String(wrong[1])}.`);
  }
  return ok({ ...DEFAULT_LIMITS, ...Object.fromEntries(chosen) });
}

/** Returns the full path of a program as the run will find it; the name itself when it is not on the path. */
export function resolveProgram(program: string, path: readonly string[], isThere: (file: string) => boolean): string {
  if (program.includes('/')) return program;
  return path.map((folder) => join(folder, program)).find(isThere) ?? program;
}

function mayBeListed(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function realFolder(path: string): string | null {
  if (!path.startsWith('/') || path.includes('\0')) return null;
  try {
    const real = realpathSync.native(path);
    return statSync(real).isDirectory() ? real : null;
  } catch {
    return null;
  }
}

function wordsOf(command: RunRequest['command']): readonly string[] {
  return 'script' in command ? [command.script, ...(command.args ?? [])] : command;
}
