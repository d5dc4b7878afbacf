/** A credential in a text, which is a secret if its value looks like one. */
export interface SentCredential {
  /** The name under which it stands, as far as it tells whether it is one. */
  readonly name: string;
  readonly value: string;
  readonly start: number;
}

/** A word that stands before each credential of a form, and the rest of the form: headers, words of curl, settings in XML. */
const FORMS: readonly { readonly mark: string; readonly rest: RegExp }[] = [
  {
    mark: 'uthorization',
    rest: /["']?\s{0,4}[:=,]\s{0,4}["']?\s{0,4}(?:[bB]earer|[bB]asic|[tT]oken)\s{1,4}(?<value>[\w.~+/=-]{8,2000})/y,
  },
  {
    mark: 'curl ',
    rest: /(?:[^\n]{0,200}?\s)??(?:-u|--user)[\s=]{0,4}["']?[\w.@+-]{1,64}:(?<value>[^\s"'`<>]{6,200})/y,
  },
  { mark: 'key="', rest: /(?<name>[\w.:-]{1,64})"\s{1,4}value="(?<value>[^"\n]{6,400})"/y },
];

/** For ripgrep: one of them stands in every text with such a credential. */
export const SENT_MARKS = FORMS.map(({ mark }) => mark);

/** Returns what stands where credentials are sent, in time linear in the text. */
export function* sentCredentials(text: string): Generator<SentCredential> {
  for (const { mark, rest } of FORMS) {
    for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + mark.length)) {
      rest.lastIndex = at + mark.length;
      const match = rest.exec(text);
      const { name = 'password', value = '' } = match?.groups ?? {};
      if (match !== null) yield { name, value, start: match.index + match[0].lastIndexOf(value) };
    }
  }
}
