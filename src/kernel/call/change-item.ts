import { oneLine } from '../text/visible.ts';
import type { ClassifiedChange } from '../world/stage.ts';
import type { ChangeItem } from './approval.ts';

/** One change as people read it, without its diff. */
export function toChangeItem(change: ClassifiedChange): ChangeItem {
  const { path, kind, class: of, reason, loses, overtaken, before, after, entries, bytes } = change;
  const { type, size, version } = after ?? before ?? {};
  const shown = oneLine(path);
  return {
    ...{ path, kind, class: of },
    ...(shown !== path && { shown }),
    ...(reason !== undefined && { reason }),
    ...(loses && { loses }),
    ...(overtaken && { overtaken }),
    ...(entries !== undefined && { entries }),
    ...(type === 'file' && size !== undefined ? { bytes: size } : bytes !== undefined && { bytes }),
    ...(type === 'symlink' && { leadsTo: version ?? '' }),
  };
}

const PLAIN_CLASSES = new Set<ChangeItem['class']>(['new', 'ignored', 'packages', 'ordinary']);

/** All that is known of a change besides its path and kind, in English: ` (+1 -1; protected)`; empty for nothing. */
export function changeFacts(item: ChangeItem): string {
  const { added, removed, entries, inside, bytes, leadsTo, reason, loses, overtaken } = item;
  const facts = [
    added === undefined ? '' : `+${added} -${removed ?? 0}`,
    entries === undefined ? '' : `${entries} entries`,
    inside === undefined ? '' : `${inside} paths in it`,
    added !== undefined || bytes === undefined ? '' : `${bytes} bytes`,
    leadsTo === undefined ? '' : `leads to ${oneLine(leadsTo)}`,
    PLAIN_CLASSES.has(item.class) ? '' : item.class,
    reason === undefined ? '' : oneLine(reason),
    loses ? 'no other copy' : '',
    overtaken ? 'changed in the workspace meanwhile' : '',
  ].filter((fact) => fact !== '');
  return facts.length === 0 ? '' : ` (${facts.join('; ')})`;
}
