/** Numbers may differ by this share, and small ones by this much: timers and Node versions move them a little. */
export const TOLERANCE = { percent: 5, least: 5 };

const NUMBER = /\d+/g;

/** Whether two texts have the same words and, in their places, numbers that are close to each other. */
export function isWithinTolerance(one: string, other: string): boolean {
  if (one.replace(NUMBER, '#') !== other.replace(NUMBER, '#')) return false;
  const numbers = (text: string) => (text.match(NUMBER) ?? []).map(Number);
  const others = numbers(other);
  return numbers(one).every((number, at) => isClose(number, others[at] ?? 0));
}

function isClose(one: number, other: number): boolean {
  const most = Math.max(TOLERANCE.least, (Math.max(one, other) * TOLERANCE.percent) / 100);
  return Math.abs(one - other) <= most;
}
