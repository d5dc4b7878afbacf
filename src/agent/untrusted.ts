/**
 * Marks what comes from outside, so that the model can tell it from what people and the runtime say. The mark's name
 * holds something the content cannot know, so the content cannot end it.
 */
export function untrusted(text: string, { source, secret }: { source: string; secret: string }): string {
  const about = visible(source)
    .replace(/["\n\r<>]/g, ' ')
    .slice(0, 200);
  return `<untrusted-${secret} from="${about}">\n${visible(text)}\n</untrusted-${secret}>`;
}

/** Tag characters and marks that turn the direction of text: nobody sees them, a model reads them. */
const INVISIBLE = /[\u{E0000}-\u{E01EF}\u202A-\u202E\u2066-\u2069]/gu;

/** Shown as their numbers, so that hidden words are neither obeyed nor lost. */
export function visible(text: string): string {
  return text.replace(INVISIBLE, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`);
}
