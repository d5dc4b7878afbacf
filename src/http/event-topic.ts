/** One event as it goes over the wire; `id` is null for those that are not recorded. */
export interface Frame {
  readonly id: number | null;
  readonly bytes: Buffer;
}

export function frameOf(type: string, data: unknown, id: number | null): Frame {
  const head = id === null ? '' : `id: ${id}\n`;
  return { id, bytes: Buffer.from(`${head}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`) };
}

/** Something that is told and not recorded. */
export function liveFrame(type: string, data: object): Frame {
  return frameOf(type, { type, at: Date.now(), data }, null);
}

/** Frames of one moment, put together once for everybody who listens. */
export interface Batch {
  readonly frames: readonly Frame[];
  readonly bytes: Buffer;
  /** The lowest id in it; infinite when none of it is recorded. */
  readonly first: number;
  readonly last: number;
}

export interface Listener {
  take(batch: Batch): void;
}

const QUICK_LISTENERS = 50;
const BATCH_MS = 20;

/** Those who listen to one session, or to all, and what they are told next. Written once, whoever many they are. */
export class EventTopic {
  readonly listeners = new Set<Listener>();
  /** Whose files its listeners hear of, where they listen to one session. */
  workspace: string | undefined;
  /** The highest id that was told. */
  told = 0;
  #pending: Frame[] = [];
  #scheduled = false;

  add(frame: Frame): void {
    if (frame.id !== null) this.told = frame.id;
    this.#pending.push(frame);
    if (this.#scheduled) return;
    this.#scheduled = true;
    // With many listeners a write each costs more than the wait.
    if (this.listeners.size > QUICK_LISTENERS) setTimeout(() => this.flush(), BATCH_MS);
    else setImmediate(() => this.flush());
  }

  flush(): void {
    this.#scheduled = false;
    const frames = this.#pending;
    if (frames.length === 0) return;
    this.#pending = [];
    const ids = frames.map(({ id }) => id).filter((id) => id !== null);
    const batch: Batch = {
      frames,
      bytes: Buffer.concat(frames.map(({ bytes }) => bytes)),
      first: ids[0] ?? Number.POSITIVE_INFINITY,
      last: ids.at(-1) ?? 0,
    };
    for (const listener of [...this.listeners]) listener.take(batch);
  }
}
