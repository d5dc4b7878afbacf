import { rmdirSync } from 'node:fs';
import { errnoOf } from '../host/errno.ts';
import type { Place } from './workspace-root.ts';

/** Removes folders that were made for nothing; one that somebody uses by now stays. */
export function unmake(place: Place, made: readonly string[]): void {
  for (const path of [...made].reverse()) {
    const located = place.locate(path, { last: 'keep' });
    if (!located.ok) continue;
    try {
      rmdirSync(located.value.folder.at(located.value.name));
    } catch (thrown) {
      if (errnoOf(thrown) === undefined) throw thrown;
    } finally {
      located.value.folder.close();
    }
  }
}
