/** Times and counts are whole numbers in every database. What is none at all stays as it is, and its own write fails. */
export function whole(value: number): number {
  return Number.isInteger(value) ? value : Math.round(value);
}
