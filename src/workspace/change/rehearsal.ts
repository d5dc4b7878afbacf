import { catchErrno } from '../../host/errno.ts';
import { missingPathOf } from '../../host/walk-path.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { PreparedChange, RealPlace, Writer } from './prepared-change.ts';

const WOULD_MAKE = fail('FILE_NOT_FOUND', 'The folder would be made.', { wouldMake: true });

/** Returns the walk's answer to a missing folder: make it, or in a rehearsal stop there. */
export function folderMaker({ rehearsal, aboutToMake }: Writer): (path: string) => Result<void> {
  return (path) => {
    if (rehearsal) return WOULD_MAKE;
    return catchErrno('The journal', () => ok(aboutToMake?.(path)));
  };
}

export function wouldMake(result: Result<unknown>): boolean {
  return !result.ok && result.error.details?.wouldMake === true;
}

type ImaginedChange = Pick<PreparedChange, 'applied' | 'versions'> & Partial<Pick<PreparedChange, 'places'>>;

/** A change below a folder that does not exist yet: there is nothing to open, only names to judge. */
export function rehearseBelowMissing(
  { root }: Writer,
  located: Result<unknown>,
  imagine: (path: string, place: RealPlace) => ImaginedChange,
): Result<PreparedChange> {
  const place = missingPathOf(located) ?? { path: '', via: [] };
  const { path, via } = place;
  for (const each of [path, ...via]) {
    const refused = root.refuses(each);
    if (!refused.ok) return refused;
  }
  return ok({
    places: [place],
    ...imagine(path, place),
    phase: 'new',
    recorded: { kind: 'delete', path, temp: '', image: null },
    perform: async () => fail('INTERNAL', `A rehearsal of ${path} cannot be performed.`),
    dispose() {},
  });
}
