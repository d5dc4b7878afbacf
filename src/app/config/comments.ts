/** What is not closed goes to the end, and stays: were it no match, each quote in it would be tried anew. */
const QUOTED_OR_COMMENT = /"(?:[^"\\]|\\[\s\S]?)*"?|(\/\/[^\n]*|\/\*[\s\S]*?\*\/)|\/\*[\s\S]*/g;

/** The same text with comments as white space, so that places in messages stay right. Texts in quotes are left alone. */
export function withoutComments(text: string): string {
  return text.replace(QUOTED_OR_COMMENT, (found, comment: string | undefined) =>
    comment === undefined ? found : comment.replace(/[^\n]/g, ' '),
  );
}
