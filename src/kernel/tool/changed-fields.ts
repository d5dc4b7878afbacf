/** The names of the arguments that differ, added and removed ones included. */
export function changedFields(before: unknown, after: unknown): string[] {
  const [old, edited] = [fields(before), fields(after)];
  const names = new Set([...Object.keys(old), ...Object.keys(edited)]);
  return [...names].filter((name) => JSON.stringify(old[name]) !== JSON.stringify(edited[name]));
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
