/** A JSON object of whatever an endpoint sent: nothing about it is known yet. */
export type Fields = Record<string, unknown>;

/** Empty for what is no object. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

/** 0 for what is no number. */
export function countOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
