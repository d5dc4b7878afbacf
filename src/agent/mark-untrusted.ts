import { escapeInvisible, invisibleSet } from '../kernel/text/invisible.ts';

/**
 * Marks content from outside, so that the model can tell it from people and the runtime. The name of the mark contains a
 * secret that the content cannot know, so the content cannot end it.
 */
export function markUntrusted(text: string, { source, secret }: { source: string; secret: string }): string {
  const about = visible(source)
    .replace(/["\n\r<>]/g, ' ')
    .slice(0, 200);
  return `<untrusted-${secret} from="${about}">\n${visible(text)}\n</untrusted-${secret}>`;
}

/** Tag characters and bidirectional marks, invisible to people and read by models. */
const SMUGGLING = invisibleSet(['tag', 'bidi']);

/** Shows invisible characters as their numbers, so that hidden text is neither obeyed nor lost. */
function visible(text: string): string {
  return escapeInvisible(text, SMUGGLING, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`);
}
