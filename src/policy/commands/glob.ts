/** No file has a longer name. What a longer pattern matches nobody looks at. */
const LONGEST_NAME = 255;

type Step = '*' | ((character: string) => boolean);

/**
 * Whether a pattern of the shell may match one of these names; letter case does not count. It goes back to the last `*`
 * only: a regular expression would try every way to share a name among many of them.
 */
export function globMatcher(pattern: string): (name: string) => boolean {
  if (isTooLong(pattern)) return () => true;
  const steps = stepsOf(pattern);
  return (name) => {
    let at = 0;
    let step = 0;
    let star = -1;
    let resumed = 0;
    while (at < name.length) {
      const next = steps[step];
      if (next === '*') {
        star = step++;
        resumed = at;
      } else if (next?.(name[at] ?? '')) {
        step++;
        at++;
      } else if (star !== -1) {
        step = star + 1;
        at = ++resumed;
      } else return false;
    }
    return steps.slice(step).every((left) => left === '*');
  };
}

export function isTooLong(pattern: string): boolean {
  return pattern.length > LONGEST_NAME;
}

function stepsOf(pattern: string): Step[] {
  return (pattern.match(/\[[^\]]*\]|./gs) ?? []).map((part) => {
    if (part === '*') return part;
    if (part === '?') return () => true;
    if (part.length > 1) return oneOf(part);
    const upper = part.toUpperCase();
    return (character) => character.toUpperCase() === upper;
  });
}

/** `[z-a]` is an error to a regular expression, and to a shell whatever it makes of it. */
function oneOf(part: string): (character: string) => boolean {
  try {
    const regex = new RegExp(`^${part.replace('[!', '[^')}$`, 'is');
    return (character) => regex.test(character);
  } catch {
    return () => true;
  }
}
