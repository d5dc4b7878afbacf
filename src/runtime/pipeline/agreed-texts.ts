import type { PresentedCall } from '../../kernel/call/approval.ts';
import type { PlannedCall } from './judge-call.ts';

/**
 * The paths of a call whose whole change a person was shown: who then says yes has agreed to these texts. A diff that was cut, a file
 * without one and a folder that stands for what is in it are not among them.
 */
export function pathsShown({ derived }: Pick<PlannedCall, 'derived'>, shown: PresentedCall | null): readonly string[] {
  const preview = shown?.preview ?? [];
  const ofCommand = preview
    .flatMap((block) => (block.kind === 'changes' ? block.items : []))
    .filter(({ diff, truncated }) => diff !== undefined && truncated !== true && isWhole(diff))
    .map(({ path }) => path);
  const writes = (derived?.plan.changes ?? []).flatMap((change) => (change.kind === 'write' ? [change.path] : []));
  const diffs = preview.flatMap((block) => (block.kind === 'diff' ? [block] : []));
  const areShown = diffs.length === writes.length && diffs.every(({ text, truncated }) => !truncated && isWhole(text));
  return areShown ? [...ofCommand, ...writes] : ofCommand;
}

/** Diffs say in brackets what they leave out; a line of a file has a sign in front. */
function isWhole(diff: string): boolean {
  return !/^\[/m.test(diff);
}
