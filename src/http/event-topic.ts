/** One event as it goes over the wire; `id` is null for events that are not recorded. */
export interface EventFrame {
  readonly id: number | null;
  readonly bytes: Buffer;
}

export function frameOf(type: string, data: unknown, id: number | null): EventFrame {
  const head = id === null ? '' : `id: ${id}\n`;
  return { id, bytes: Buffer.from(`${head}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`) };
}

/** Makes the frame of an event that is sent and not recorded. */
export function liveFrame(type: string, data: object): EventFrame {
  return frameOf(type, { type, at: Date.now(), data }, null);
}

/** Frames of one moment, joined once for all listeners. */
export interface FrameBatch {
  readonly frames: readonly EventFrame[];
  readonly bytes: Buffer;
  /** Lowest id in the batch; Infinity when none of it is recorded. */
  readonly first: number;
  readonly last: number;
}

export interface FrameListener {
  take(batch: FrameBatch): void;
}

const QUICK_LISTENERS = 50;
const BATCH_MS = 20;

/**
 * The listeners of one session, or of all, and the frames they get next. A batch is serialized once, however many
 * listen.
 */
export class EventTopic {
  readonly listeners = new Set<FrameListener>();
  /** Workspace whose file changes the listeners get, where they listen to one session. */
  workspace: string | undefined;
  /** Highest id that was sent. */
  told = 0;
  #pending: EventFrame[] = [];
  #scheduled = false;

  add(frame: EventFrame): void {
    if (frame.id !== null) this.told = frame.id;
    this.#pending.push(frame);
    if (this.#scheduled) return;
    this.#scheduled = true;
    // With many listeners, one write for each event costs more than the short wait.
    if (this.listeners.size > QUICK_LISTENERS) setTimeout(() => this.flush(), BATCH_MS);
    else setImmediate(() => this.flush());
  }

  flush(): void {
    this.#scheduled = false;
    const frames = this.#pending;
    if (frames.length === 0) return;
    this.#pending = [];
    const ids = frames.map(({ id }) => id).filter((id) => id !== null);
    const batch: FrameBatch = {
      frames,
      bytes: Buffer.concat(frames.map(({ bytes }) => bytes)),
      first: ids[0] ?? Number.POSITIVE_INFINITY,
      last: ids.at(-1) ?? 0,
    };
    for (const listener of [...this.listeners]) listener.take(batch);
  }
}
