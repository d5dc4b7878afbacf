import { catastrophicTarget } from './refusals/catastrophes.ts';
import { ask, deny, OUTSIDE, type Ruling, refuse, SENSITIVE } from './command-judgement.ts';
import { type Place, placesOf, type Surroundings } from '../../shell/resolve-path.ts';
import type { Redirection } from '../../shell/parse-script.ts';

/** Whether a script opens descriptors or moves them other than to write where it writes anyway. */
export function movesDescriptors(script: string): boolean {
  return /[\d}]<|[<>]&\s*(?![12-](?!\d))/.test(script.replaceAll('\\\n', ''));
}

/** Opening a descriptor by its path opens its file anew, for writing too, though it was only read: `<f >/dev/stdin`. */
export function isReopened({ opens, target }: Redirection, isMoved: boolean): boolean {
  return opens === 'write' && (isMoved ? DESCRIPTORS : OTHER_DESCRIPTORS).test(target.value ?? '');
}

const DESCRIPTORS = /^\/dev\/(?:stdin|stdout|stderr|fd\/\d+)$/;
const OTHER_DESCRIPTORS = /^\/dev\/(?:stdin|fd\/\d+)$/;

/** What is to be said of a redirection from any of these folders; nothing where it may be. */
export function judgeRedirection(redirection: Redirection, folders: readonly string[], where: Surroundings): Ruling[] {
  const { opens, target } = redirection;
  const device = opens === 'write' ? catastrophicTarget(target) : undefined;
  if (device !== undefined) return [refuse(device)];
  if (target.pattern) return [ask('redirection', `Which file ${target.text} is, is known only at run time.`)];
  return placesOf(target, folders, where).flatMap((place) => judgePlace(redirection, place, where) ?? []);
}

function judgePlace({ opens, target: { text } }: Redirection, place: Place, where: Surroundings): Ruling | undefined {
  if (place.kind === 'neutral') return undefined;
  if (place.kind === 'computed') return ask('redirection', `Where ${text} leads is known only at run time.`);
  if (place.kind === 'outside' && opens === 'read')
    return ask(OUTSIDE, `It reads ${text}, which is outside the workspace.`);
  if (place.kind === 'outside')
    return deny(OUTSIDE, `It would write to ${text}, which is outside the workspace. Write inside it.`);
  const { access, rule } = where.files.judge(place.path);
  if (access === 'hidden') return deny(SENSITIVE, `${text} cannot be used: ${rule?.reason ?? 'it is sensitive'}.`);
  return opens === 'write' ? ask('redirection', `It writes ${text}.`) : undefined;
}
