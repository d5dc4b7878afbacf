import type { Rehearsal } from '../../kernel/tool/tool.ts';
import type { RunResult } from '../../kernel/world/sandbox.ts';

/** The words in which programs say that a write was refused: a read-only mount, or the profile of macOS. */
const REFUSED_WRITE = /Read-only file system|EROFS|Operation not permitted|EPERM/i;

/**
 * Whether a run that could only read was refused a write. The exit code does not count: a script may go on after the
 * refusal, and its work would still be missing.
 */
export function wantsToWrite({ output, endedBy }: RunResult): boolean {
  if (endedBy !== null) return false;
  return [output.stderr, output.stdout].some(({ head, tail }) =>
    REFUSED_WRITE.test(`${Buffer.from(head).toString('latin1')}\n${Buffer.from(tail).toString('latin1')}`),
  );
}

/** The end of a dry run that could only read. */
export function readOnlyRehearsal(text: string, wants: 'writes' | 'reads'): Rehearsal {
  const end = wants === 'writes' ? 'It wants to write files: a yes would run it on the real files.' : 'It only reads.';
  return { text: `${text}\n${end}`, stage: null };
}
