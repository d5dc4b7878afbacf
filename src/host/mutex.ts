/** Runs a piece of work when nobody else's is under way. */
export type OneByOne = <T>(work: () => Promise<T>) => Promise<T>;

/** One piece of work at a time, in the order it came. */
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
