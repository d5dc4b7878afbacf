import type { ToolView } from '../../src/protocol/tools.ts';
import { askBeforeLeaving } from '../show/ask-before-leaving.ts';
import type { FormValues } from '../show/schema-form.tsx';
import { createStore } from '../state/store.ts';

/** The text in the composer. It outlives the screen, so that switching screens loses nothing typed. */
export const composerText = createStore('');

askBeforeLeaving(() => composerText.get().trim() !== '');

interface ToolDraft {
  readonly values: FormValues;
  /** Idempotency key: sent twice, it is still one call. */
  readonly key: string;
}

/** The tool whose form is open above the composer. It outlives the screen as well. */
export const openTool = createStore<ToolView | null>(null);

/** Half-filled tool forms, by tool. */
export const toolDrafts = createStore<ReadonlyMap<string, ToolDraft>>(new Map());

askBeforeLeaving(() => [...toolDrafts.get().values()].some(({ values }) => Object.keys(values).length > 0));

/** Stores the arguments under a new key: other arguments are another call. */
export function writeToolDraft(tool: string, values: FormValues): void {
  toolDrafts.set((now) => new Map(now).set(tool, { values, key: newKey() }));
}

export function dropToolDraft(tool: string): void {
  toolDrafts.set((now) => new Map([...now].filter(([name]) => name !== tool)));
}

/** Avoids `randomUUID`, which browsers lack on pages served over plain HTTP from another machine. */
function newKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}
