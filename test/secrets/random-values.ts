const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const DIGITS = '0123456789';
const ALPHABETS = {
  hex: `${DIGITS}abcdef`,
  word: LETTERS + DIGITS,
  upper: LETTERS.slice(0, 26) + DIGITS,
  base64: `${LETTERS}${DIGITS}+/`,
  digits: DIGITS,
};

/** Makes values as machines make them, the same for the same seed. None is a literal, so that no scanner takes it for a leak. */
export function createValues(seed: number) {
  let state = seed;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  const of = (alphabet: keyof typeof ALPHABETS, length: number): string =>
    Array.from({ length }, () => ALPHABETS[alphabet][below(ALPHABETS[alphabet].length)]).join('');
  return {
    of,
    password: () => `${of('word', 9)}${below(90) + 10}!`,
    uuid: () => [8, 4, 4, 4, 12].map((length) => of('hex', length)).join('-'),
    lines: (count: number) => Array.from({ length: count }, () => of('base64', 64)),
  };
}

export type Values = ReturnType<typeof createValues>;
