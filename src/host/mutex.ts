/** Runs a piece of work while no other is under way. */
export type RunExclusive = <T>(work: () => Promise<T>) => Promise<T>;

/** Runs one piece of work at a time, in the order they came. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  run<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#waiting === 0 ? work() : this.#last.then(work);
    this.#waiting++;
    const done = () => {
      this.#waiting--;
    };
    this.#last = turn.then(done, done);
    return turn;
  }
}
