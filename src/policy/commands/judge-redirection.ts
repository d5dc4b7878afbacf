import { type Surroundings, targetsOf, type WordTarget } from '../../shell/resolve-path.ts';
import type { Redirection } from '../../shell/simple-command.ts';
import { deny, denySecret, OUTSIDE, type Ruling, refuse } from './command-judgement.ts';
import { catastrophicTarget } from './refusals/catastrophes.ts';

/** Returns the refusals of a redirection from any of these folders: of devices, secrets, and writing outside the workspace. */
export function judgeRedirection(redirection: Redirection, folders: readonly string[], where: Surroundings): Ruling[] {
  const { opens, target } = redirection;
  const device = opens === 'write' ? catastrophicTarget(target) : undefined;
  if (device !== undefined) return [refuse(device)];
  if (target.pattern) return [];
  return targetsOf(target, folders, where).flatMap((place) => judgeTarget(redirection, place, where) ?? []);
}

function judgeTarget(
  { opens, target: { text } }: Redirection,
  place: WordTarget,
  where: Surroundings,
): Ruling | undefined {
  if (place.kind === 'outside' && opens === 'write')
    return deny(OUTSIDE, `It would write to ${text}, which is outside the workspace. Write inside it.`);
  if (place.kind !== 'inside') return undefined;
  const { access, rule } = where.files.judge(place.path);
  return access === 'hidden'
    ? denySecret({ text, path: place.path, why: rule?.reason ?? 'it is sensitive' }, where.files)
    : undefined;
}
