import { ok, type Result } from '../kernel/result.ts';
import type { CommandRequest, CommandResult } from '../kernel/world/commands.ts';
import type { NetworkAccess, OutputChunk, RunRequest, Sandbox } from '../kernel/world/sandbox.ts';
import type { OpenStage, SessionStage, StageStore } from '../kernel/world/stage.ts';
import type { Caller } from '../kernel/world/workspace.ts';

/** Everything that a run needs beside its request. */
export interface RunPlace {
  readonly sandbox: Sandbox;
  readonly stages: StageStore;
  readonly root: string;
  /** Whether a session wrote this version of a file. */
  wrote(session: string, path: string, version: string): boolean;
  readonly network: NetworkAccess | undefined;
  /** The stage of the session, on which its commands work. */
  readonly standsOn: SessionStage | undefined;
  /** Begins the filter of one run, with the secrets of the workspace as they are now. */
  beginFilter(): Promise<RunFilter>;
}

/** The filter of one run, which learns the values of the files that are hidden from it. */
export interface RunFilter extends Required<Pick<RunRequest, 'filterOutput' | 'onHidden'>> {
  /** Tells what was replaced; null for nothing. */
  note(): string | null;
}

/** Runs a command to its end; secrets in its output are replaced as it comes. In a stage its changes are listed and wait there; the workspace is as it was. */
export async function runCommand(
  place: RunPlace,
  given: CommandRequest,
  caller: Caller,
): Promise<Result<CommandResult>> {
  const filter = await place.beginFilter();
  const stream = given.onOutput === undefined ? undefined : createTextStream(given.onOutput);
  const request: RunRequest = {
    ...toRunRequest(place, given, caller),
    signal: caller.signal,
    filterOutput: filter.filterOutput,
    onHidden: filter.onHidden,
    ...(stream && { onOutput: (chunk) => stream.add(chunk) }),
  };
  const ended = given.writes === 'stage' ? await runStaged(place, given, { caller, request }) : await runPlain();
  stream?.end();
  const note = filter.note();
  return ended.ok && note !== null ? ok({ ...ended.value, notes: [...ended.value.notes, note] }) : ended;

  async function runPlain(): Promise<Result<CommandResult>> {
    const ran = await place.sandbox.run(request);
    return ran.ok ? ok({ ...ran.value, stage: null }) : ran;
  }
}

async function runStaged(
  place: RunPlace,
  { title, allowedBy = null }: CommandRequest,
  { caller, request }: { caller: Caller; request: RunRequest },
): Promise<Result<CommandResult>> {
  const begun = await beginStage(place, caller, { title, allowedBy });
  if (!begun.ok) return begun;
  const ran = await place.sandbox.run({ ...request, stage: begun.value.folder }).catch(async (thrown) => {
    await begun.value.discard();
    throw thrown;
  });
  if (!ran.ok || ran.value.staged === null) {
    await begun.value.discard();
    return ran.ok ? ok({ ...ran.value, stage: null }) : ran;
  }
  const stage = await begun.value.finish(ran.value.staged, { isPartial: ran.value.endedBy !== null });
  if (!stage.ok) {
    ran.value.output.log.dispose();
    return stage;
  }
  return ok({ ...ran.value, stage: stage.value?.id ?? null });
}

export function beginStage(
  { stages, root, wrote, standsOn }: RunPlace,
  { callId, session }: Caller,
  about: { readonly title: string; readonly allowedBy: string | null },
): Promise<Result<OpenStage>> {
  const owner = { workspace: root, session, callId, standsOn, ...about };
  return stages.begin({ ...owner, wrote: (path, version) => wrote(session, path, version) });
}

/** Decodes output while it arrives: a character that is split between two chunks is passed on whole. */
function createTextStream(tell: (text: string) => void): { add(chunk: OutputChunk): void; end(): void } {
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  const say = (text: string) => {
    if (text !== '') tell(text);
  };
  return {
    add: ({ stream, bytes }) => say(decoders[stream].decode(bytes, { stream: true })),
    end() {
      for (const decoder of Object.values(decoders)) say(decoder.decode());
    },
  };
}

/**
 * Variables with which programs open no editor, no pager and no question, since no person sits in front of them. The
 * command's own variables win.
 */
const NON_INTERACTIVE = {
  CI: '1',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GIT_EDITOR: 'true',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  // The user has another number inside: without this git of root takes every file for a changed one, and writes its index anew.
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'core.checkStat',
  GIT_CONFIG_VALUE_0: 'minimal',
  EDITOR: 'true',
  NO_COLOR: '1',
  DEBIAN_FRONTEND: 'noninteractive',
  PIP_NO_INPUT: '1',
  NPM_CONFIG_FUND: 'false',
  NPM_CONFIG_UPDATE_NOTIFIER: 'false',
  PYTHONUNBUFFERED: '1',
  PYTHONDONTWRITEBYTECODE: '1',
};

const MOUNTS = { nothing: 'read', stage: 'staged', workspace: 'live' } as const;

/** The request to the sandbox. The caller adds the stage of a run that writes. */
export function toRunRequest(place: RunPlace, given: CommandRequest, { callId }: Pick<Caller, 'callId'>): RunRequest {
  const { command, cwd, env, timeoutMs, writes, network, onWait } = given;
  const reach = reachOf(network, place.network);
  return {
    command,
    workspace: place.root,
    mounts: MOUNTS[writes],
    env: { ...NON_INTERACTIVE, ...env },
    limits: { timeMs: timeoutMs },
    tag: callId,
    ...(writes === 'nothing' && place.standsOn && { stage: place.standsOn.folder }),
    ...(cwd !== undefined && { cwd }),
    ...(reach && { network: reach }),
    ...(onWait && { onWait }),
  };
}

function reachOf(wish: CommandRequest['network'], allowed: NetworkAccess | undefined): NetworkAccess | undefined {
  if (wish === undefined) return undefined;
  if (wish === 'allowed') return allowed !== undefined && allowed.hosts.length > 0 ? allowed : undefined;
  return { ...allowed, hosts: wish };
}
