/** A text for a file whose every line ends with CRLF gets the same, if it uses LF throughout. Mixed files are left alone. */
export function keepLineEndings(old: string, text: string): { text: string; note: string | null } {
  const usesCrlf = old.includes('\r\n') && !/(?:^|[^\r])\n/.test(old);
  if (!usesCrlf || text.includes('\r') || !text.includes('\n')) return { text, note: null };
  return { text: text.replace(/\n/g, '\r\n'), note: 'CRLF line endings kept' };
}
