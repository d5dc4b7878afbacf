/**
 * Returns a copy of plain data that shares nothing with the original, so that validated data cannot be changed through
 * the original afterwards. Getters are read once. Anything but arrays and plain objects stays as it is.
 */
export function plainCopy(value: unknown): unknown {
  return copy(value, (made) => made);
}

/** The same, frozen: for readers that must not change it. */
export function frozenCopy<T>(value: T): T {
  return copy(value, Object.freeze) as T;
}

function copy(value: unknown, finish: (made: object) => object): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return finish(value.map((item) => copy(item, finish)));
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  const made: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const inner = copy((value as Record<string, unknown>)[key], finish);
    if (key === '__proto__')
      Object.defineProperty(made, key, { value: inner, enumerable: true, configurable: true, writable: true });
    else made[key] = inner;
  }
  return finish(made);
}
