import { type CommandJudgement, type CommandPart, READ_ONLY } from './commands/command-judgement.ts';

/** Programs without any option that writes a file, runs another program or reaches a network. */
const SURE = new Set(
  `cd pushd popd pwd echo printf true false : test [ [[ ls cat head tail wc cut tr nl grep egrep fgrep basename dirname
  realpath readlink stat du df seq sleep whoami id uname hostname type which date expr`.split(/\s+/),
);

/**
 * What only reads runs where nothing can be written, so that a mistake about it does no harm. Beside a part that a rule
 * lets write there is no such place: then a part whose harmlessness hangs on its options is asked about.
 */
export function besideWriting({ parts, readOnly, verdict }: CommandJudgement): readonly CommandPart[] {
  // A script that is asked about anyway is seen as a whole by whoever says yes.
  if (readOnly || verdict !== 'allow') return parts;
  return parts.map((part) => {
    if (part.rule !== READ_ONLY || part.program === null || isSureReader(part.program)) return part;
    const reason = `${part.program} only reads with these options, but it would run beside a part that may write.`;
    return { ...part, verdict: 'ask', rule: BESIDE_WRITING, reason };
  });
}

export function isSureReader(program: string): boolean {
  return SURE.has(program);
}

export const BESIDE_WRITING = 'beside writing';
