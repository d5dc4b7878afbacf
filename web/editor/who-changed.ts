import { writers } from '../state/live.ts';

const RECENT_MS = 15_000;

/** The tool that wrote the file just now, or null: then it was another program. */
export function whoChanged(path: string): string | null {
  const writer = writers.get().get(path);
  return writer !== undefined && Date.now() - writer.at < RECENT_MS ? writer.tool : null;
}
