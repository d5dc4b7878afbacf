/**
 * The latest `capacity` items, oldest first. Adding takes constant time; shifting an array takes longer with its
 * length.
 */
export class Ring<T> {
  readonly #capacity: number;
  #items: T[] = [];
  /** Index of the oldest item once the ring is full. */
  #start = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Returns the item that was dropped to make room. */
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

const MAX_NODES = 2000;

/** Estimates the characters that a value holds; counts no more than some thousand parts. */
export function estimateSize(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let nodes = 0;
  return measure(value);

  function measure(part: unknown): number {
    if (typeof part === 'string') return part.length;
    if (typeof part !== 'object' || part === null || ++nodes > MAX_NODES) return 8;
    let size = 16;
    for (const inner of Object.values(part)) {
      size += 8 + measure(inner);
      if (nodes > MAX_NODES) break;
    }
    return size;
  }
}
