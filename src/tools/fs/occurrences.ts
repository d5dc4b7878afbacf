/**
 * Finds every occurrence of one sequence in another, overlapping ones included, in linear time (Knuth, Morris and
 * Pratt),
 * even among a million equal lines.
 */
export function occurrences<T>(all: ArrayLike<T>, wanted: ArrayLike<T>, from = 0): number[] {
  const places: number[] = [];
  const back = fallbacks(wanted);
  let matched = 0;
  for (let at = from; at < all.length && wanted.length > 0; at++) {
    while (matched > 0 && (matched === wanted.length || all[at] !== wanted[matched])) matched = back[matched - 1] ?? 0;
    if (all[at] === wanted[matched]) matched++;
    if (matched === wanted.length) places.push(at + 1 - matched);
  }
  return places;
}

/** For every prefix: the length of its longest proper prefix that is also its suffix. */
function fallbacks<T>(wanted: ArrayLike<T>): Int32Array {
  const back = new Int32Array(wanted.length);
  let matched = 0;
  for (let at = 1; at < wanted.length; at++) {
    while (matched > 0 && wanted[at] !== wanted[matched]) matched = back[matched - 1] ?? 0;
    if (wanted[at] === wanted[matched]) matched++;
    back[at] = matched;
  }
  return back;
}
