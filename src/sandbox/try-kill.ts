/** A negative number is a group. Nobody is meant by 0 and -1: to the system they are our own group, and everybody. */
export function tryKill(pid: number, signal: NodeJS.Signals): void {
  if (pid === 0 || pid === -1) return;
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself, or belongs to somebody else.
  }
}
