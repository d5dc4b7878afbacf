import { existsSync } from 'node:fs';
import { catchErrno } from '../host/errno.ts';
import { statOf } from '../host/files.ts';
import { Mutex, type RunExclusive } from '../host/mutex.ts';
import { ok } from '../kernel/result.ts';
import type { Sandbox } from '../kernel/world/sandbox.ts';
import type { SessionStageOwner } from '../kernel/world/stage.ts';
import { readSessionFiles, type SessionFile } from './session-file.ts';
import { openSessionStage, type WorkingStage } from './session-stage.ts';
import { readStageFile } from './stage-file.ts';

type StageKey = Pick<SessionStageOwner, 'workspace' | 'session'>;

/** The stages of sessions that have not ended, by workspace and session. The notes on the disk say which there are. */
export class WorkingStages {
  readonly #sandbox: Sandbox;
  readonly #notes: string;
  readonly #stages = new Map<string, WorkingStage>();
  readonly #turns = new Map<string, Mutex>();
  #readAtMs: number | undefined;

  constructor(sandbox: Sandbox, notes: string) {
    this.#sandbox = sandbox;
    this.#notes = notes;
  }

  all(): WorkingStage[] {
    return [...this.#stages.values()];
  }

  find(workspace: string, session: string): WorkingStage | undefined {
    return this.#stages.get(keyOf({ workspace, session }));
  }

  /** The stage that another one stands on. */
  below({ workspace, onto }: Pick<SessionFile, 'workspace' | 'onto'>): WorkingStage | undefined {
    return onto === null ? undefined : this.find(workspace, onto);
  }

  take(file: SessionFile): WorkingStage {
    const known = this.find(file.workspace, file.session);
    if (known?.id === file.id) return known;
    const stage = openSessionStage({ sandbox: this.#sandbox, file, onto: this.below(file) });
    this.#stages.set(keyOf(file), stage);
    return stage;
  }

  drop(stage: WorkingStage): void {
    stage.close();
    if (this.#stages.get(keyOf(stage)) === stage) this.#stages.delete(keyOf(stage));
  }

  /** Stages of one session begin and end one after the other. */
  turnOf(key: StageKey): RunExclusive {
    const turn = this.#turns.get(keyOf(key)) ?? new Mutex();
    this.#turns.set(keyOf(key), turn);
    return (work) => turn.run(work);
  }

  /** Learns of stages of other processes. If the notes cannot be read now, all stays as it is known. */
  refresh(): void {
    catchErrno(this.#notes, () => {
      const changedAtMs = statOf(this.#notes)?.mtimeMs;
      if (changedAtMs !== this.#readAtMs) this.#read();
      this.#readAtMs = changedAtMs;
      return ok(undefined);
    });
  }

  #read(): void {
    // A stage whose changes are listed has ended, also where a crash left its note.
    const isGoingOn = ({ folder }: SessionFile): boolean => existsSync(folder) && readStageFile(folder) === null;
    const files = readSessionFiles(this.#notes).filter(isGoingOn);
    const ids = new Set(files.map(({ id }) => id));
    for (const stage of this.all()) if (!ids.has(stage.id)) this.drop(stage);
    // Of two stages of one session, which a crash can leave, the older one goes on.
    for (const file of files) if (this.find(file.workspace, file.session) === undefined) this.take(file);
  }
}

function keyOf({ workspace, session }: StageKey): string {
  return `${workspace}\0${session}`;
}
