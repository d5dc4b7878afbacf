import type { Limits, RunEnd } from '../../kernel/world/sandbox.ts';

/** Returns a sentence about the limit or event that ended a run after this time. */
export function endMessage(end: RunEnd, limits: Limits, durationMs: number): string {
  switch (end) {
    case 'time':
      return `Stopped after ${seconds(limits.timeMs)}, its time limit. Give it a longer timeout or less to do.`;
    case 'cpu':
      return `Stopped after using ${seconds(limits.cpuMs)} of CPU time, its limit. Give it less to compute.`;
    case 'memory':
      return `Stopped because it used more than ${bytes(limits.memoryBytes)} of memory. Work on smaller pieces.`;
    case 'processes':
      return `Stopped because it started more than ${limits.processes} processes. Start fewer at a time.`;
    case 'write':
      return `Stopped because it wrote more than its limit (${bytes(limits.writeBytes)} in all, ${bytes(limits.fileBytes)} in one file, ${limits.newFiles} new files). Write less.`;
    case 'output':
      return `Stopped because it printed more than ${bytes(limits.outputBytes)}. Send the output to a file or filter it.`;
    case 'cancel':
      return `Cancelled after ${seconds(durationMs)}.`;
    case 'closed':
      return `Ended after ${seconds(durationMs)}, because Toolwright was shut down.`;
  }
}

function seconds(ms: number): string {
  return `${Number((ms / 1000).toFixed(1))} s`;
}

function bytes(count: number): string {
  const mb = count / (1024 * 1024);
  return mb >= 1024 ? `${Number((mb / 1024).toFixed(1))} GB` : `${Number(mb.toFixed(1))} MB`;
}
