import type { CallItem, Feed, MessageItem } from '../state/feed.ts';

export type ChatRow =
  | { readonly key: string; readonly kind: 'message'; readonly message: MessageItem }
  | { readonly key: string; readonly kind: 'calls'; readonly calls: readonly CallItem[] };

/** Groups calls that ran in parallel: each was requested before the first of its group had ended. */
export function groupRows({ items, streaming }: Pick<Feed, 'items' | 'streaming'>): ChatRow[] {
  const rows: ChatRow[] = [];
  let group: CallItem[] = [];
  const close = () => {
    const [first] = group;
    if (first !== undefined) rows.push({ key: first.id, kind: 'calls', calls: group });
    group = [];
  };
  for (const item of items) {
    if (item.kind === 'message') {
      close();
      rows.push({ key: item.id, kind: 'message', message: item });
      continue;
    }
    const ends = group.map(endOf);
    if (group.length > 0 && item.requestedAt >= Math.min(...ends)) close();
    group.push(item);
  }
  close();
  if (streaming !== '') {
    const message = { kind: 'message', id: 'streaming', seq: 0, role: 'assistant', text: streaming, at: 0 } as const;
    rows.push({ key: 'streaming', kind: 'message', message });
  }
  return rows;
}

function endOf({ startedAt, requestedAt, durationMs, phase }: CallItem): number {
  if (phase === 'waiting' || phase === 'queued' || phase === 'running') return Number.POSITIVE_INFINITY;
  return (startedAt ?? requestedAt) + (durationMs ?? 0);
}
