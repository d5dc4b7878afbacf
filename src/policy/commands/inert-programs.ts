/**
 * Programs without any option that writes a file, runs another program or reaches a network. Not `cd` and its kind: the
 * same words do something else in another folder, so a rule must name the change of folder as well.
 */
const INERT = new Set(
  `pwd echo printf true false : test [ [[ ls cat head tail wc cut tr nl grep egrep fgrep basename dirname
  realpath readlink stat du df seq sleep whoami id uname type which date expr`.split(/\s+/),
);

/** Whether a program has no effect of its own, so that a rule for the commands beside it covers the whole line. */
export function isInert(program: string | null): boolean {
  return program !== null && INERT.has(program);
}
