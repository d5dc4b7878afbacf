/** The latest `capacity` items, oldest first. Adding is constant time; a shifted array costs microseconds by its length. */
export class Ring<T> {
  readonly #capacity: number;
  #items: T[] = [];
  /** Where the oldest is once the ring is full. */
  #start = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Returns what had to go to make room. */
  add(item: T): T | undefined {
    if (this.#items.length < this.#capacity) {
      this.#items.push(item);
      return undefined;
    }
    const oldest = this.#items[this.#start];
    this.#items[this.#start] = item;
    this.#start = (this.#start + 1) % this.#capacity;
    return oldest;
  }

  all(): T[] {
    return [...this.#items.slice(this.#start), ...this.#items.slice(0, this.#start)];
  }

  replaceAll(items: readonly T[]): void {
    this.#items = items.slice(-this.#capacity);
    this.#start = 0;
  }
}
