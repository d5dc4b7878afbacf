import { type Access, conflicts } from '../../kernel/tool/access.ts';
import type { Turn } from '../pipeline/call-scope.ts';

/**
 * Orders calls requested together, such as those of one model turn. A call that conflicts with an earlier one waits for
 * its end, also while the earlier one awaits approval; other calls do not wait.
 */
export function createTurns(count: number): (Turn & { finish(): void })[] {
  const places = Array.from({ length: count }, () => new BatchPosition());
  return places.map((place, index) => ({
    declare: (access) => place.declare(access),
    async wait(access) {
      for (const earlier of places.slice(0, index)) {
        await earlier.declared;
        if (conflicts(earlier.access, access)) await earlier.finished;
      }
    },
    /** Must be called for every call, also for one refused before it declared its access: it touches nothing. */
    finish: () => place.finish(),
  }));
}

class BatchPosition {
  /** The latest declaration: arguments that a person edited may touch something else. */
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
