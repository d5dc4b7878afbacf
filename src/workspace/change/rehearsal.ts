import { fail, ok, type Result } from '../../kernel/result.ts';
import type { Applied } from '../../kernel/world/workspace.ts';
import { guarded } from '../../host/errno.ts';
import type { Prepared, Writer } from '../prepared.ts';
import { wouldBeOf } from '../../host/walk-path.ts';

const WOULD_MAKE = fail('FILE_NOT_FOUND', 'The folder would be made.', { wouldMake: true });

/** What the walk does about a missing folder: makes it, or in a rehearsal stops there. */
export function folderMaker({ rehearsal, aboutToMake }: Writer): (path: string) => Result<void> {
  return (path) => {
    if (rehearsal) return WOULD_MAKE;
    return guarded('The journal', () => ok(aboutToMake?.(path)));
  };
}

export function wouldMake(result: Result<unknown>): boolean {
  return !result.ok && result.error.details?.wouldMake === true;
}

/** A change below a folder that does not exist yet: there is nothing to open, only names to judge. */
export function imagined(
  { place }: Writer,
  { located, applied }: { located: Result<unknown>; applied: (path: string) => Applied },
): Result<Prepared> {
  const { place: path, via } = wouldBeOf(located) ?? { place: '', via: [] };
  for (const each of [path, ...via]) {
    const refused = place.refuses(each);
    if (!refused.ok) return refused;
  }
  return ok({
    paths: [path],
    applied: applied(path),
    recorded: { kind: 'delete', path, temp: '', image: null },
    perform: async () => fail('INTERNAL', `A rehearsal of ${path} cannot be performed.`),
    dispose() {},
  });
}
