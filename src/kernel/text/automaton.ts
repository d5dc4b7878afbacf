/** Whether a text matches as a whole. */
export type TextMatcher = (text: string) => boolean;

/** Whether a state accepts one UTF-16 unit. States that share a test should share the function too. */
export type UnitTest = (unit: string) => boolean;

/** One of a list of states, in which every way goes to a neighbour. Alternatives lie in the list one after the other. */
export interface AutomatonState {
  /** Units that lead to the next state. */
  readonly advances?: UnitTest;
  /** Units that lead to this state again. */
  readonly stays?: UnitTest;
  /** Units that lead to the state before. */
  readonly returns?: UnitTest;
  /** How far the state lies that is reached without any input. */
  readonly skips?: 1 | 2;
  readonly isEnd?: true;
}

/** One bit for each state. */
type BitSet = Uint32Array;

type Way = 'advances' | 'stays' | 'returns';

interface StateSet {
  readonly bits: BitSet;
  readonly isEnd: boolean;
  readonly isEmpty: boolean;
  /** By unit, for the units of ASCII. */
  readonly next: (StateSet | undefined)[];
  readonly nextBeyondAscii: Map<number, StateSet>;
}

const ASCII = 128;
/** Words of 32 states: sets of larger automata are not cached. */
const MAX_CACHED_SET_WORDS = 64;
/** When the cached sets, or the cached masks, take more together, their cache starts again. */
const MAX_CACHE_WORDS = 250_000;

/**
 * A matcher that follows all ways through the automaton at once, and so takes time linear in the text. A regular
 * expression tries the ways one after the other; for several wildcards these are too many. Sets of states are cached, so
 * that most characters cost one look into a map.
 */
export function toMatcher(states: readonly AutomatonState[], starts: readonly number[]): TextMatcher {
  const words = Math.ceil(states.length / 32);
  const advance = stepper(states);
  const ends = bitsWhere(states, ({ isEnd }) => isEnd === true);
  const cache = new Map<string, StateSet>();
  let first: StateSet | undefined;

  return (text) => {
    first ??= toSet(advance.start(starts));
    let current = first;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      current = (unit < ASCII ? current.next[unit] : current.nextBeyondAscii.get(unit)) ?? next(current, unit);
      if (current.isEmpty) return false;
    }
    return current.isEnd;
  };

  function next(from: StateSet, unit: number): StateSet {
    const bits = advance.step(from.bits, unit);
    if (words > MAX_CACHED_SET_WORDS) return toSet(bits);
    const key = bits.join();
    let set = cache.get(key);
    if (set === undefined) {
      if (cache.size * words > MAX_CACHE_WORDS) {
        cache.clear();
        first = undefined;
      }
      set = toSet(bits);
      cache.set(key, set);
    }
    if (unit < ASCII) from.next[unit] = set;
    else from.nextBeyondAscii.set(unit, set);
    return set;
  }

  function toSet(bits: BitSet): StateSet {
    let [isEnd, isEmpty] = [false, true];
    for (let at = 0; at < words; at++) {
      const word = bits[at] as number;
      if (word === 0) continue;
      isEmpty = false;
      if ((word & (ends[at] as number)) !== 0) isEnd = true;
    }
    return { bits, isEnd, isEmpty, next: [], nextBeyondAscii: new Map() };
  }
}

interface Stepper {
  start(states: readonly number[]): BitSet;
  step(from: BitSet, unit: number): BitSet;
}

function stepper(states: readonly AutomatonState[]): Stepper {
  const words = Math.ceil(states.length / 32);
  const byOne = bitsWhere(states, ({ skips }) => skips === 1);
  const byTwo = bitsWhere(states, ({ skips }) => skips === 2);
  const tests = testsOf(states);
  const masks = new Map<number, Record<Way, BitSet>>();

  return {
    start(from) {
      const bits = new Uint32Array(words);
      for (const at of from) setBit(bits, at);
      return withSkips(bits);
    },

    step(from, unit) {
      const { advances, stays, returns } = masks.get(unit) ?? masksFor(unit);
      const to = new Uint32Array(words);
      let carry = 0;
      for (let at = 0; at < words; at++) {
        const word = from[at] as number;
        if (word === 0 && carry === 0) continue;
        const forth = word & (advances[at] as number);
        const back = word & (returns[at] as number);
        to[at] = (to[at] as number) | (forth << 1) | carry | (word & (stays[at] as number)) | (back >>> 1);
        if ((back & 1) !== 0 && at > 0) setBit(to, at * 32 - 1);
        carry = forth >>> 31;
      }
      return withSkips(to);
    },
  };

  /** Skips go forward only, so one pass over the words is enough. */
  function withSkips(bits: BitSet): BitSet {
    let carry = 0;
    for (let at = 0; at < words; at++) {
      let word = (bits[at] as number) | carry;
      carry = 0;
      if (word === 0) continue;
      const one = byOne[at] as number;
      const two = byTwo[at] as number;
      for (let before = 0; before !== word; ) {
        before = word;
        word |= ((word & one) << 1) | ((word & two) << 2);
      }
      bits[at] = word;
      carry = ((word & one) >>> 31) | ((word & two) >>> 30);
    }
    return bits;
  }

  /** For each way the states that it leads from when this unit comes. */
  function masksFor(unit: number): Record<Way, BitSet> {
    if (masks.size * words > MAX_CACHE_WORDS) masks.clear();
    const character = String.fromCharCode(unit);
    const empty = () => new Uint32Array(words);
    const made: Record<Way, BitSet> = { advances: empty(), stays: empty(), returns: empty() };
    for (const [test, places] of tests) {
      if (test(character)) for (const { way, at } of places) setBit(made[way], at);
    }
    masks.set(unit, made);
    return made;
  }
}

/** Every test with the places where it stands. */
function testsOf(states: readonly AutomatonState[]): Map<UnitTest, { way: Way; at: number }[]> {
  const tests = new Map<UnitTest, { way: Way; at: number }[]>();
  for (const [at, state] of states.entries()) {
    for (const way of ['advances', 'stays', 'returns'] as const) {
      const test = state[way];
      if (test === undefined) continue;
      const places = tests.get(test) ?? [];
      places.push({ way, at });
      tests.set(test, places);
    }
  }
  return tests;
}

function bitsWhere(states: readonly AutomatonState[], isWanted: (state: AutomatonState) => boolean): BitSet {
  const bits = new Uint32Array(Math.ceil(states.length / 32));
  for (const [at, state] of states.entries()) if (isWanted(state)) setBit(bits, at);
  return bits;
}

function setBit(bits: BitSet, at: number): void {
  bits[at >>> 5] = (bits[at >>> 5] as number) | (1 << (at & 31));
}
