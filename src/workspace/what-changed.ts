import { createTwoFilesPatch } from 'diff';

const MAX_LINES = 30;

/** A short diff for whoever must read again. Null when the old text is no longer known, or it would take long. */
export function whatChanged(old: string | undefined, now: string | undefined): string | null {
  if (old === undefined || now === undefined) return null;
  const patch = createTwoFilesPatch('read', 'now', old, now, '', '', { context: 1, timeout: 200 });
  if (patch === undefined) return null;
  const lines = patch
    .slice(Math.max(0, patch.indexOf('@@ ')))
    .trimEnd()
    .split('\n');
  const rest = lines.length - MAX_LINES;
  return lines.slice(0, MAX_LINES).join('\n') + (rest > 0 ? `\n[${rest} more lines of the diff]` : '');
}
