import type { ChildProcess } from 'node:child_process';
import { Server } from 'node:net';

/**
 * The listening socket that comes out of a run over Node's channel. Node believes what its children say: a line that is
 * not JSON, or a handle that is not what it is called, throws where nobody can catch it. So nothing of the channel
 * reaches Node's own listeners: the first socket is taken, and whatever else comes is told by `onBroken`.
 */
export function receiveDoor(
  child: ChildProcess,
  { onDoor, onBroken }: { onDoor(door: Server): void; onBroken(): void },
): void {
  const handle = channelHandle(child);
  const read = handle.onread;
  const emit = child.emit as (this: ChildProcess, event: string, ...rest: unknown[]) => boolean;
  let [bytes, isOpen] = [0, false];

  function broken(): void {
    handle.onread = () => {};
    onBroken();
  }

  handle.onread = function onread(this: unknown, data) {
    bytes += data?.byteLength ?? 0;
    if (bytes > MOST_BYTES) return broken();
    try {
      read.call(this, data);
    } catch {
      broken();
    }
  };
  child.emit = function emitGuarded(this: ChildProcess, event: string, ...rest: unknown[]): boolean {
    if (event !== 'internalMessage' && event !== 'message') return emit.call(this, event, ...rest);
    const door = isOpen ? null : doorOf(rest, broken);
    if (door === null) broken();
    else onDoor(door);
    isOpen = true;
    return true;
  };
  // Without one, plain messages wait unseen, and an error would end our process.
  child.on('message', () => {});
  child.on('error', () => {});
}

/** The door says less than a hundred bytes. */
const MOST_BYTES = 4096;

interface ChannelHandle {
  onread(this: unknown, data?: ArrayBuffer): void;
}

/** Where Node keeps it. Without it a run could not be trusted with a channel, so it does not get one. */
function channelHandle(child: ChildProcess): ChannelHandle {
  const kept = Object.getOwnPropertySymbols(child).map((symbol) => (child as never)[symbol] as unknown);
  const found = kept.find((each) => typeof (each as Partial<ChannelHandle> | null)?.onread === 'function');
  if (found === undefined) throw new Error('this version of Node keeps the channel of a child where it is not known');
  return found as ChannelHandle;
}

function doorOf([message, handle]: unknown[], onError: () => void): Server | null {
  if ((message as { type?: unknown } | null)?.type !== 'net.Server' || handle?.constructor.name !== 'TCP') return null;
  const door = new Server();
  // A connection that could not be accepted, for want of descriptors, is no lie of the run: it only has no way out then.
  door.on('error', () => (door.listening ? door.close() : onError()));
  try {
    return door.listen(handle);
  } catch {
    return null;
  }
}
