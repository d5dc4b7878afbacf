import { catastrophicTarget } from './catastrophes.ts';
import { ask, deny, OUTSIDE, type Ruling, refuse, SENSITIVE } from './command-judgement.ts';
import { type Place, placesOf, type Surroundings } from './places.ts';
import type { Redirection } from './shell-script.ts';

/** What is to be said of a redirection from any of these folders; nothing where it may be. */
export function judgeRedirection(redirection: Redirection, folders: readonly string[], where: Surroundings): Ruling[] {
  const { opens, target } = redirection;
  const device = opens === 'write' ? catastrophicTarget(target) : undefined;
  if (device !== undefined) return [refuse(device)];
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
