import { type CommandJudgement, type CommandPart, READ_ONLY } from './command-judgement.ts';

/** Programs without any option that writes a file, runs another program or reaches a network. */
const SURE_READERS = new Set(
  `cd pushd popd pwd echo printf true false : test [ [[ ls cat head tail wc cut tr nl grep egrep fgrep basename dirname
  realpath readlink stat du df seq sleep whoami id uname hostname type which date expr`.split(/\s+/),
);

/**
 * Asks about parts that only read with these options and would run beside a part that may write. A command that only reads
 * runs where nothing can be written, so that a wrong judgement does no harm; beside a writing part there is no such place.
 */
export function askBesideWrites({ parts, readOnly, verdict }: CommandJudgement): readonly CommandPart[] {
  // A script that needs approval anyway is shown as a whole to the person who approves it.
  if (readOnly || verdict !== 'allow') return parts;
  return parts.map((part) => {
    if (part.rule !== READ_ONLY || part.program === null || isSureReader(part.program)) return part;
    const reason = `${part.program} only reads with these options, but another part of the command may write at the same time.`;
    return { ...part, verdict: 'ask', rule: BESIDE_WRITES, reason };
  });
}

export function isSureReader(program: string): boolean {
  return SURE_READERS.has(program);
}

export const BESIDE_WRITES = 'beside writing';
