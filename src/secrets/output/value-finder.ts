import { printedForms } from '../secret-encodings.ts';

/** A known value in a text, in one of its encodings. */
export interface ValuePlace {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

const MIN_FORM_LENGTH = 8;

export interface ValueFinder {
  readonly isEmpty: boolean;
  find(text: string): ValuePlace[];
  /** The position from which the end of a text may begin a value. The length of the text if there is none. */
  begun(text: string): number;
}

/** One spelling of a value. Spellings are sorted. */
interface Form {
  readonly form: string;
  readonly name: string;
  /** The longest other one that it begins with. */
  readonly within: Form | undefined;
}

/**
 * Finds these values in a text, also in base64 and hex. The text has one character for each byte. It
 * is read once; how many values there are, also of those that begin alike, counts by its logarithm.
 */
export function createValueFinder(values: ReadonlyMap<string, string>): ValueFinder {
  const forms = sortedForms(values);
  const begins = new Uint8Array(1 << 16);
  for (const { form } of forms) begins[pairAt(form, 0)] = 1;

  return {
    isEmpty: forms.length === 0,
    find(text) {
      const found: ValuePlace[] = [];
      if (forms.length === 0) return found;
      for (let at = 0; at + MIN_FORM_LENGTH <= text.length; at++) {
        const here = begins[pairAt(text, at)] === 0 ? undefined : longestAt(forms, text, at);
        if (here === undefined) continue;
        found.push({ name: here.name, start: at, end: at + here.form.length });
        at += here.form.length - 1;
      }
      return found;
    },
    begun(text) {
      for (let at = Math.max(0, text.length - MAX_BEGUN); at + MIN_BEGUN <= text.length; at++) {
        if (begins[pairAt(text, at)] !== 0 && isBegun(forms, text.slice(at))) return at;
      }
      return text.length;
    },
  };
}

/** A shorter beginning at the end of a text is chance. */
const MIN_BEGUN = 6;
const MAX_BEGUN = 1024;

function sortedForms(values: ReadonlyMap<string, string>): readonly Form[] {
  const names = new Map<string, string>();
  for (const [value, path] of values) {
    for (const printed of printedForms(value)) {
      const form = Buffer.from(printed, 'utf8').toString('latin1');
      if (form.length >= MIN_FORM_LENGTH) names.set(form, `value of ${path}`);
    }
  }
  const sorted: Form[] = [];
  for (const form of [...names.keys()].sort()) {
    let within = sorted.at(-1);
    while (within !== undefined && !form.startsWith(within.form)) within = within.within;
    sorted.push({ form, name: names.get(form) as string, within });
  }
  return sorted;
}

/** Of the forms that sort before the text at this place, the last one or one that it begins with. */
function longestAt(forms: readonly Form[], text: string, at: number): Form | undefined {
  const rest = text.slice(at);
  let form = forms[countUpTo(forms, rest) - 1];
  while (form !== undefined && !rest.startsWith(form.form)) form = form.within;
  return form;
}

function isBegun(forms: readonly Form[], rest: string): boolean {
  return forms[countUpTo(forms, rest)]?.form.startsWith(rest) === true;
}

/** How many forms do not sort behind a text. */
function countUpTo(forms: readonly Form[], text: string): number {
  let [low, high] = [0, forms.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((forms[middle] as Form).form <= text) low = middle + 1;
    else high = middle;
  }
  return low;
}

function pairAt(text: string, at: number): number {
  return ((text.charCodeAt(at) & 0xff) << 8) | (text.charCodeAt(at + 1) & 0xff);
}
