import { printedForms } from './secret-encodings.ts';

/** A known value in a text, in one of its encodings. */
export interface ValuePlace {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

const MIN_FORM_LENGTH = 8;

/**
 * Returns a function that finds these values in a text, also in base64 and hex. The text has one character for each byte. It
 * is read once, however many values there are.
 */
export function createValueFinder(values: ReadonlyMap<string, string>): (text: string) => ValuePlace[] {
  /** The forms by their first characters, the longest first. */
  const forms = new Map<string, { readonly form: string; readonly name: string }[]>();
  const begins = new Uint8Array(1 << 16);
  for (const [value, path] of values) {
    for (const printed of printedForms(value)) {
      const form = Buffer.from(printed, 'utf8').toString('latin1');
      if (form.length < MIN_FORM_LENGTH) continue;
      const key = form.slice(0, MIN_FORM_LENGTH);
      forms.set(key, [...(forms.get(key) ?? []), { form, name: `value of ${path}` }]);
      begins[pairAt(form, 0)] = 1;
    }
  }
  for (const alike of forms.values()) alike.sort((a, b) => b.form.length - a.form.length);

  return (text) => {
    const found: ValuePlace[] = [];
    if (forms.size === 0) return found;
    for (let at = 0; at + MIN_FORM_LENGTH <= text.length; at++) {
      if (begins[pairAt(text, at)] === 0) continue;
      const alike = forms.get(text.slice(at, at + MIN_FORM_LENGTH));
      const here = alike?.find(({ form }) => text.startsWith(form, at));
      if (here === undefined) continue;
      found.push({ name: here.name, start: at, end: at + here.form.length });
      at += here.form.length - 1;
    }
    return found;
  };
}

function pairAt(text: string, at: number): number {
  return ((text.charCodeAt(at) & 0xff) << 8) | (text.charCodeAt(at + 1) & 0xff);
}
