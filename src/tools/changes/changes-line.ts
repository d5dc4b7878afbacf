import { z } from 'zod';
import type { KeptChanges } from '../../kernel/tool/kept-changes.ts';

const MAX_NAMED = 20;

/** The changes of a command as programs read them. */
export const keptChanges = z.object({
  state: z.enum(['kept', 'partly kept', 'discarded', 'nothing changed']),
  created: z.array(z.string()),
  modified: z.array(z.string()),
  deleted: z.array(z.string()),
  total: z.int(),
  reason: z.string().nullable(),
});

export function toShape({ created, modified, deleted, ...rest }: KeptChanges): z.output<typeof keptChanges> {
  return { ...rest, created: [...created], modified: [...modified], deleted: [...deleted] };
}

/** For the model: which files a command changed, and whether they were kept. */
export function changesLine(kept: KeptChanges | null): string[] {
  if (kept === null || kept.state === 'nothing changed') return [];
  const kinds = (['created', 'modified', 'deleted'] as const).flatMap((kind) => {
    const paths = kept[kind];
    if (paths.length === 0) return [];
    const more = paths.length > MAX_NAMED ? ` and ${paths.length - MAX_NAMED} more` : '';
    return [`${kind} ${paths.slice(0, MAX_NAMED).join(', ')}${more}`];
  });
  const files = kinds.length === 0 ? '' : `${kinds.join('; ')}. `;
  return [`[Files: ${files}${SAID[kept.state]}${kept.reason === null ? '' : ` ${kept.reason}`}]`];
}

const SAID = { kept: 'Kept.', 'partly kept': 'Kept in part.', discarded: 'Not kept: the workspace is as it was.' };
