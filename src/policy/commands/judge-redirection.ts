import type { Redirection } from '../../shell/parse-script.ts';
import { type Surroundings, targetsOf, type WordTarget } from '../../shell/resolve-path.ts';
import { ask, deny, OUTSIDE, type Ruling, refuse, SENSITIVE } from './command-judgement.ts';
import { catastrophicTarget } from './refusals/catastrophes.ts';

/** Whether a script opens or moves file descriptors, other than between standard output and standard error. */
export function movesDescriptors(script: string): boolean {
  return /[\d}]<|[<>]&\s*(?![12-](?!\d))/.test(script.replaceAll('\\\n', ''));
}

/** Whether a redirection opens a descriptor by its path: that opens the file anew, also for writing though it was only read, as in `<f >/dev/stdin`. */
export function isReopened({ opens, target }: Redirection, isMoved: boolean): boolean {
  return opens === 'write' && (isMoved ? DESCRIPTORS : OTHER_DESCRIPTORS).test(target.value ?? '');
}

const DESCRIPTORS = /^\/dev\/(?:stdin|stdout|stderr|fd\/\d+)$/;
const OTHER_DESCRIPTORS = /^\/dev\/(?:stdin|fd\/\d+)$/;

/** Judges a redirection from any of these folders; empty where it is allowed. */
export function judgeRedirection(redirection: Redirection, folders: readonly string[], where: Surroundings): Ruling[] {
  const { opens, target } = redirection;
  const device = opens === 'write' ? catastrophicTarget(target) : undefined;
  if (device !== undefined) return [refuse(device)];
  if (target.pattern) return [ask('redirection', `The file that ${target.text} names is known only at run time.`)];
  return targetsOf(target, folders, where).flatMap((place) => judgeTarget(redirection, place, where) ?? []);
}

function judgeTarget(
  { opens, target: { text } }: Redirection,
  place: WordTarget,
  where: Surroundings,
): Ruling | undefined {
  if (place.kind === 'neutral') return undefined;
  if (place.kind === 'computed') return ask('redirection', `The target of ${text} is known only at run time.`);
  if (place.kind === 'outside' && opens === 'read')
    return ask(OUTSIDE, `It reads ${text}, which is outside the workspace.`);
  if (place.kind === 'outside')
    return deny(OUTSIDE, `It would write to ${text}, which is outside the workspace. Write inside it.`);
  const { access, rule } = where.files.judge(place.path);
  if (access === 'hidden') return deny(SENSITIVE, `${text} cannot be used: ${rule?.reason ?? 'it is sensitive'}.`);
  return opens === 'write' ? ask('redirection', `It writes ${text}.`) : undefined;
}
