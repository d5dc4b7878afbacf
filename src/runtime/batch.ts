import { type Access, conflicts } from '../kernel/access.ts';
import type { Turn } from './call-scope.ts';

/**
 * The order among calls that were asked for together, such as those of one model turn. A call that conflicts with an
 * earlier one waits for its end, also while a person still thinks about the earlier one; others do not wait.
 */
export function turnsFor(count: number): (Turn & { finish(): void })[] {
  const places = Array.from({ length: count }, () => new Place());
  return places.map((place, index) => ({
    declare: (access) => place.declared.resolve(access),
    async wait(access) {
      for (const earlier of places.slice(0, index)) {
        const other = await earlier.declared.promise;
        if (conflicts(other, access)) await earlier.finished.promise;
      }
    },
    /** Also for a call that was refused before it said what it touches: it touches nothing. */
    finish() {
      place.declared.resolve([]);
      place.finished.resolve();
    },
  }));
}

class Place {
  readonly declared = deferred<readonly Access[]>();
  readonly finished = deferred<void>();
}

function deferred<T>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
