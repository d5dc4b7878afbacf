import { type Access, conflicts } from '../../kernel/tool/access.ts';
import type { Turn } from '../call-scope.ts';

/**
 * The order among calls that were asked for together, such as those of one model turn. A call that conflicts with an
 * earlier one waits for its end, also while a person still thinks about the earlier one; others do not wait.
 */
export function turnsFor(count: number): (Turn & { finish(): void })[] {
  const places = Array.from({ length: count }, () => new Place());
  return places.map((place, index) => ({
    declare: (access) => place.declare(access),
    async wait(access) {
      for (const earlier of places.slice(0, index)) {
        await earlier.declared;
        if (conflicts(earlier.access, access)) await earlier.finished;
      }
    },
    /** Also for a call that was refused before it said what it touches: it touches nothing. */
    finish: () => place.finish(),
  }));
}

class Place {
  /** The latest: arguments that a person edits may touch something else. */
  access: readonly Access[] = [];
  declare: (access: readonly Access[]) => void = () => {};
  finish: () => void = () => {};
  readonly declared: Promise<void>;
  readonly finished: Promise<void>;

  constructor() {
    this.declared = new Promise((resolve) => {
      this.declare = (access) => {
        this.access = access;
        resolve();
      };
    });
    this.finished = new Promise((resolve) => {
      this.finish = () => {
        this.declare(this.access);
        resolve();
      };
    });
  }
}
