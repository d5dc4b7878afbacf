/** Lists what a search skipped, so that "nothing found" can be trusted. */
export function searchFooter(
  head: string,
  notes: readonly string[],
  { ignored, complete }: { ignored: number | null; complete: boolean },
): string {
  const all = [
    ...notes,
    complete ? '' : 'Timed out: these are the results so far. Search a smaller folder.',
    ignored === null ? 'Ignored files were neither searched nor counted; includeIgnored searches them.' : '',
    ignored !== null && ignored > 0 ? `${ignored} ignored entries were skipped; includeIgnored searches them.` : '',
  ].filter(Boolean);
  return all.length === 0 ? head : `${head}\n[${all.join(' ')}]`;
}
