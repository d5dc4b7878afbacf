/** Signals a process, or a group by a negative number. Ignores 0 and -1: the system takes them for our own group and for all processes. */
export function tryKill(pid: number, signal: NodeJS.Signals): void {
  if (pid === 0 || pid === -1) return;
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended by itself, or belongs to another user.
  }
}
