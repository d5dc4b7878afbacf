import { appendFileSync, lstatSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { catchErrno } from '../host/errno.ts';
import { ok, type Result } from '../kernel/result.ts';
import type { StagedChange } from '../kernel/world/stage.ts';

/** The clock of files ticks as rarely as a hundred times a second. */
const TICK_MS = 20;
const FILE = 'changed.jsonl';

/**
 * When each path of a long-lived stage was changed in it for the first time. A change of the host before that moment was seen
 * and is built upon; one after it would be lost.
 */
export class ChangedTimes {
  readonly #file: string;
  readonly #times = new Map<string, number>();

  constructor(folder: string) {
    this.#file = join(folder, FILE);
    for (const line of linesOf(this.#file)) this.#remember(line);
  }

  /** Notes paths that are about to change. */
  note(paths: readonly string[]): Result<void> {
    const fresh = paths.filter((path) => !this.#times.has(path));
    const at = Date.now() - TICK_MS;
    return catchErrno('The changes of this session', () => {
      const lines = fresh.map((path) => `${JSON.stringify([path, at])}\n`).join('');
      if (lines !== '') appendFileSync(this.#file, lines, { mode: 0o600 });
      for (const path of fresh) this.#times.set(path, at);
      return ok(undefined);
    });
  }

  /** Takes the mark `overtaken` off changes of paths that the host changed only before the stage did. Folders keep it. */
  unmarkEarlierEdits(changes: readonly StagedChange[], base: string): StagedChange[] {
    return changes.map((change) => {
      const { overtaken, ...rest } = change;
      const at = overtaken === undefined ? undefined : this.#timeOf(change.path);
      if (at === undefined || change.before === null || change.before.type === 'directory') return change;
      const now = lstatSync(join(base, change.path), { throwIfNoEntry: false });
      return now !== undefined && now.ctimeMs < at ? rest : change;
    });
  }

  #timeOf(path: string): number | undefined {
    for (let at = path; at !== '.'; at = dirname(at)) {
      const time = this.#times.get(at);
      if (time !== undefined) return time;
    }
    return undefined;
  }

  #remember(line: string): void {
    try {
      const [path, at] = JSON.parse(line) as [string, number];
      if (!this.#times.has(path)) this.#times.set(path, at);
    } catch {
      // A line that a power cut left half written.
    }
  }
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').slice(0, -1);
  } catch {
    return [];
  }
}
