import type { ToolView } from '../../src/protocol/tools.ts';
import { askBeforeLeaving } from '../show/ask-before-leaving.ts';
import type { Values } from '../show/schema-form.tsx';
import { createStore } from '../state/store.ts';

interface Draft {
  readonly values: Values;
  /** The same key is the same call, however often it is sent. */
  readonly key: string;
}

/** The tool whose form is open above the composer. It outlives the screen, as what is written does. */
export const openTool = createStore<ToolView | null>(null);

/** Calls that are being filled in, by tool. */
export const drafts = createStore<ReadonlyMap<string, Draft>>(new Map());

askBeforeLeaving(() => [...drafts.get().values()].some(({ values }) => Object.keys(values).length > 0));

/** Other arguments are another call. */
export function writeDraft(tool: string, values: Values): void {
  drafts.set((now) => new Map(now).set(tool, { values, key: newKey() }));
}

export function dropDraft(tool: string): void {
  drafts.set((now) => new Map([...now].filter(([name]) => name !== tool)));
}

/** Not randomUUID: a page that came over plain HTTP from another machine has none. */
function newKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}
