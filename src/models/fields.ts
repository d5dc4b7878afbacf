/** An unchecked JSON object from an endpoint. */
export type JsonFields = Record<string, unknown>;

/** Returns an empty object for anything else. */
export function fieldsOf(value: unknown): JsonFields {
  return typeof value === 'object' && value !== null ? (value as JsonFields) : {};
}

/** Returns 0 for anything but a number. */
export function countOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
