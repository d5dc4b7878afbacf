import type { ChildProcess } from 'node:child_process';
import { Server } from 'node:net';

/**
 * Receives the listening socket that a run sends over Node's channel. Node trusts its children: a line that is not JSON, or
 * a handle of another type than announced, throws where it cannot be caught. So nothing reaches Node's own listeners: the
 * first socket is taken, and anything else calls `onBroken`.
 */
export function receiveListener(
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
    if (bytes > MAX_BYTES) return broken();
    try {
      read.call(this, data);
    } catch {
      broken();
    }
  };
  child.emit = function emitGuarded(this: ChildProcess, event: string, ...rest: unknown[]): boolean {
    if (event !== 'internalMessage' && event !== 'message') return emit.call(this, event, ...rest);
    const door = isOpen ? null : listenerOf(rest, broken);
    if (door === null) broken();
    else onDoor(door);
    isOpen = true;
    return true;
  };
  // Without listeners, plain messages would wait unseen, and an error would end this process.
  child.on('message', () => {});
  child.on('error', () => {});
}

/** The real message has less than a hundred bytes. */
const MAX_BYTES = 4096;

interface ChannelHandle {
  onread(this: unknown, data?: ArrayBuffer): void;
}

/** The channel handle in Node's own symbol. Without it the channel could not be guarded, so the run gets none. */
function channelHandle(child: ChildProcess): ChannelHandle {
  const kept = Object.getOwnPropertySymbols(child).map((symbol) => (child as never)[symbol] as unknown);
  const found = kept.find((each) => typeof (each as Partial<ChannelHandle> | null)?.onread === 'function');
  if (found === undefined) throw new Error('this version of Node keeps the channel of a child where it is not known');
  return found as ChannelHandle;
}

function listenerOf([message, handle]: unknown[], onError: () => void): Server | null {
  if ((message as { type?: unknown } | null)?.type !== 'net.Server' || handle?.constructor.name !== 'TCP') return null;
  const door = new Server();
  // A connection that could not be accepted for lack of file descriptors is no fault of the run: it then only has no way out.
  door.on('error', () => (door.listening ? door.close() : onError()));
  try {
    return door.listen(handle);
  } catch {
    return null;
  }
}
