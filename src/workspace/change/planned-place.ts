import { shortPath } from '../../host/parse-path.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { Change, PlannedPlace } from '../../kernel/world/workspace.ts';
import type { PreparedChange, RealPlace, Writer } from './prepared-change.ts';

/** The places of a rehearsed change, for the plan that `apply` is compared with. */
export function toPlannedPlaces({ root }: Writer, change: Change, { places }: PreparedChange): PlannedPlace[] {
  const given = pathsOf(change);
  return places.map((place, index) => ({
    given: given[index] ?? place.path,
    paths: [place.path],
    protectedBecause: root.protection(place),
  }));
}

/** The paths of a change as it names them. */
export function pathsOf(change: Change): string[] {
  return change.kind === 'move' ? [change.from, change.to] : [change.path];
}

/**
 * CONFLICT when a path leads elsewhere than when its call was planned, or to a place that has become protected since then.
 */
export function leadsAsPlanned({ root, planned }: Writer, given: string, place: RealPlace): Result<void> {
  const before = planned?.get(given);
  if (before === undefined) return ok(undefined);
  const why = before.protectedBecause === null ? root.protection(place) : null;
  if (why === null && before.paths.includes(place.path)) return ok(undefined);
  const message = `${shortPath(given)} is not the place that it was when the call was planned; nothing was changed.`;
  return fail('CONFLICT', [message, why, 'Try again.'].filter(Boolean).join(' '), { path: shortPath(given) });
}
