import type { QuarantinedFile } from '../../kernel/world/sandbox.ts';

/** A run may leave any number, and whoever reads of it does so in one piece. */
const MOST_NAMED = 20;
const MOST_QUARANTINED = 200;

export function named(paths: readonly string[]): string {
  const more = paths.length - MOST_NAMED;
  return more > 0 ? `${paths.slice(0, MOST_NAMED).join(', ')} and ${more} more` : paths.join(', ');
}

/** The quarantined files that are listed one by one, and a note on the rest. */
export function toldOf(quarantined: readonly QuarantinedFile[]): { told: readonly QuarantinedFile[]; notes: string[] } {
  const more = quarantined.length - MOST_QUARANTINED;
  if (more <= 0) return { told: quarantined, notes: [] };
  const note = `${more} more files that the host would obey were put aside. Their names end in .quarantined.`;
  return { told: quarantined.slice(0, MOST_QUARANTINED), notes: [note] };
}
