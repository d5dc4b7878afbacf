import { messageOf } from '../kernel/error.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import type { BackgroundProcess, OutputPage } from '../kernel/world/commands.ts';
import {
  LIVE_INPUT,
  type OutputLog,
  type RunningCommand,
  type RunRequest,
  type RunResult,
  type Sandbox,
} from '../kernel/world/sandbox.ts';
import type { OpenStage } from '../kernel/world/stage.ts';
import type { RunFilter } from './run-command.ts';

interface BackgroundEntry {
  readonly id: string;
  readonly scope: string;
  readonly title: string;
  readonly startedAt: number;
  readonly abort: AbortController;
  /** Settles when all of its processes have ended. */
  readonly ended: Promise<void>;
  running: RunningCommand | undefined;
  end: Result<RunResult> | undefined;
  endedAt: number | null;
  /** Where it writes; null once its changes were handed on or discarded, or where nothing stages. */
  stage: OpenStage | null;
  readonly filter: BackgroundLaunch['filter'] | undefined;
}

export interface BackgroundLaunch {
  readonly title: string;
  readonly request: RunRequest;
  readonly stage: OpenStage | null;
  /** The filter of the request, which tells what it replaced. */
  readonly filter?: Pick<RunFilter, 'note'>;
}

export interface BackgroundOptions {
  readonly sandbox: Sandbox;
  readonly mostOfSession?: number;
  readonly mostOfAll?: number;
}

/** A forgotten process does not run for ever. */
const MAX_RUN_MS = 24 * 60 * 60 * 1000;
/** The output that stays readable of one process. */
const KEEP_BYTES = 8 * 1024 * 1024;
/** How many ended processes can still be read, of all sessions. */
const MAX_ENDED = 32;
const MAX_INPUT_BYTES = 1024 * 1024;

/** Processes that go on after the call that started them. A scope is a session in a workspace: it sees only its own processes. */
export class Background {
  readonly #sandbox: Sandbox;
  readonly #mostOfSession: number;
  readonly #mostOfAll: number;
  readonly #entries = new Map<string, BackgroundEntry>();
  /** In the order in which they ended. */
  readonly #ended = new Set<BackgroundEntry>();
  #started = 0;

  constructor({ sandbox, mostOfSession = 8, mostOfAll = 16 }: BackgroundOptions) {
    this.#sandbox = sandbox;
    this.#mostOfSession = mostOfSession;
    this.#mostOfAll = mostOfAll;
  }

  /** Resolves once the process runs, or with the reason why it cannot. The request's signal counts only until then. */
  async start(scope: string, launch: BackgroundLaunch): Promise<Result<BackgroundProcess>> {
    const { request } = launch;
    const running = [...this.#entries.values()].filter(({ end }) => end === undefined);
    if (running.length >= this.#mostOfAll || of(scope, running).length >= this.#mostOfSession) {
      const next = 'stop one with process_stop first.';
      await launch.stage?.discard();
      return fail('TOO_LARGE', `${of(scope, running).length} processes run in the background already: ${next}`);
    }
    const entry = this.#launch(scope, launch);
    const stop = () => entry.abort.abort();
    request.signal?.addEventListener('abort', stop, { once: true });
    if (request.signal?.aborted) stop();
    await Promise.race([entry.ended, this.#begun(entry)]);
    request.signal?.removeEventListener('abort', stop);
    if (entry.end?.ok !== false) return ok(this.#shown(entry));
    this.#forget(entry);
    return entry.end;
  }

  list(scope: string): readonly BackgroundProcess[] {
    return of(scope, [...this.#entries.values()]).map((entry) => this.#shown(entry));
  }

  find(scope: string, id: string): Result<BackgroundProcess> {
    const found = this.#get(scope, id);
    return found.ok ? ok(this.#shown(found.value)) : found;
  }

  output(scope: string, id: string, offset: number, length: number): Result<OutputPage> {
    const found = this.#get(scope, id);
    if (!found.ok) return found;
    const { running, end } = found.value;
    return ok(readPage(running?.log, { offset, length, isOver: end !== undefined }));
  }

  input(scope: string, id: string, text: string, end: boolean): Result<BackgroundProcess> {
    const found = this.#get(scope, id);
    if (!found.ok) return found;
    const pipe = found.value.running?.input;
    if (pipe == null || found.value.end !== undefined) return fail('CONFLICT', `${id} has ended: it reads no input.`);
    if (pipe.waitingBytes + Buffer.byteLength(text) > MAX_INPUT_BYTES) {
      return fail('TOO_LARGE', `${id} has not read its input yet: wait until it has, or stop it.`);
    }
    if (!pipe.write(text)) return fail('CONFLICT', `The input of ${id} is closed.`);
    if (end) pipe.close();
    return ok(this.#shown(found.value));
  }

  async stop(scope: string, id: string): Promise<Result<BackgroundProcess>> {
    const found = this.#get(scope, id);
    if (!found.ok) return found;
    found.value.abort.abort();
    await found.value.ended;
    return ok(this.#shown(found.value));
  }

  /** Hands its changes on once it has ended: while it runs they would change under the person who looks at them. */
  async stageOf(scope: string, id: string): Promise<Result<string | null>> {
    const found = this.#get(scope, id);
    if (!found.ok) return found;
    const { stage, end } = found.value;
    if (end === undefined)
      return fail('CONFLICT', `${id} still runs: stop it with process_stop, then keep its changes.`);
    if (stage === null) return ok(null);
    if (!end.ok) return end;
    const { staged, endedBy } = end.value;
    if (staged === null) {
      const next = 'Start it again so that it writes less, or writes outside the workspace.';
      return fail('TOO_LARGE', `${id} changed more files than can be listed, so none of them can be kept. ${next}`);
    }
    found.value.stage = null;
    // To be stopped is how a process in the background ends; one that a limit ended was in the middle of something.
    const finished = await stage.finish(staged, { isPartial: endedBy !== null && endedBy !== 'cancel' });
    return finished.ok ? ok(finished.value?.id ?? null) : finished;
  }

  async close(): Promise<void> {
    const entries = [...this.#entries.values()];
    for (const { abort } of entries) abort.abort();
    await Promise.all(entries.map(({ ended }) => ended));
    for (const entry of entries) this.#forget(entry);
  }

  #launch(scope: string, { title, request, stage, filter }: BackgroundLaunch): BackgroundEntry {
    const abort = new AbortController();
    let settle = () => {};
    const entry: BackgroundEntry = {
      id: `p${++this.#started}`,
      scope,
      title,
      startedAt: Date.now(),
      abort,
      ended: new Promise((resolve) => {
        settle = resolve;
      }),
      running: undefined,
      end: undefined,
      endedAt: null,
      stage,
      filter,
    };
    this.#entries.set(entry.id, entry);
    const run = this.#sandbox.run({
      ...request,
      stdin: LIVE_INPUT,
      signal: abort.signal,
      limits: { ...request.limits, timeMs: MAX_RUN_MS, cpuMs: MAX_RUN_MS, keepBytes: KEEP_BYTES },
      onStart: (running) => {
        entry.running = running;
      },
    });
    const finish = (end: Result<RunResult>): void => {
      entry.end = end;
      entry.endedAt = Date.now();
      this.#ended.add(entry);
      this.#forgetOldest();
      settle();
    };
    run.then(finish, (error) => {
      entry.running?.log.dispose();
      entry.running = undefined;
      finish(fail('INTERNAL', `The process was given up: ${messageOf(error)}. Its output is lost; start it again.`));
    });
    return entry;
  }

  async #begun(entry: BackgroundEntry): Promise<void> {
    while (entry.running === undefined && entry.end === undefined) await new Promise((next) => setTimeout(next, 5));
  }

  #get(scope: string, id: string): Result<BackgroundEntry> {
    const entry = this.#entries.get(id);
    if (entry?.scope === scope) return ok(entry);
    const known = of(scope, [...this.#entries.values()]).map((one) => one.id);
    const hint = known.length === 0 ? 'none was started here.' : `there are ${known.join(', ')}.`;
    return fail('FILE_NOT_FOUND', `There is no background process ${id}: ${hint}`);
  }

  #shown({ id, title, startedAt, endedAt, running, end, filter }: BackgroundEntry): BackgroundProcess {
    const hidden = filter?.note() ?? null;
    const result = end?.ok ? end.value : undefined;
    return {
      id,
      title,
      startedAt,
      endedAt,
      state: end === undefined ? 'running' : 'exited',
      exitCode: result?.exitCode ?? null,
      signal: result?.signal ?? null,
      outputBytes: running?.log.totalBytes ?? 0,
      keptBytes: running?.log.keptBytes ?? 0,
      awaitsInput: end === undefined ? (running?.input?.isAwaited() ?? null) : false,
      notes: [...(end === undefined ? [] : notesOf(end)), ...(hidden === null ? [] : [hidden])],
    };
  }

  /** Forgets a process of the scope that has the most, so that a busy session does not cost other sessions unread output. */
  #forgetOldest(): void {
    if (this.#ended.size <= MAX_ENDED) return;
    const ended = [...this.#ended];
    const counts = ended.map(({ scope }) => of(scope, ended).length);
    const oldest = ended[counts.indexOf(Math.max(...counts))];
    if (oldest !== undefined) this.#forget(oldest);
  }

  #forget(entry: BackgroundEntry): void {
    entry.running?.log.dispose();
    void entry.stage?.discard();
    this.#entries.delete(entry.id);
    this.#ended.delete(entry);
  }
}

function of(scope: string, entries: readonly BackgroundEntry[]): BackgroundEntry[] {
  return entries.filter((entry) => entry.scope === scope);
}

function notesOf(end: Result<RunResult>): string[] {
  if (!end.ok) return [end.error.message];
  const { endedBy, endMessage, notes } = end.value;
  return [...(endMessage === null || endedBy === 'cancel' ? [] : [endMessage]), ...notes];
}

/** Reads a part of a log as text. A character that is cut off at its end comes with the next page. */
function readPage(
  log: OutputLog | undefined,
  { offset, length, isOver }: { offset: number; length: number; isOver: boolean },
): OutputPage {
  const kept = log?.keptBytes ?? 0;
  const from = Math.min(kept, offset < 0 ? Math.max(0, kept + offset) : offset);
  const bytes = log?.read(from, length) ?? new Uint8Array();
  const isEnd = from + bytes.length >= kept;
  const whole = isEnd && isOver ? bytes.length : wholeCharacters(bytes);
  return { text: new TextDecoder().decode(bytes.subarray(0, whole)), offset: from, next: from + whole };
}

/** The number of bytes up to the last complete character. Bytes that are no UTF-8 count as complete. */
function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0b1100_0000) === 0b1000_0000) continue;
    const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return size > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
