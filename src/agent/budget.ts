import type { Usage } from '../kernel/call/message.ts';
import type { Price } from '../models/model.ts';
import type { RunProgress } from './session.ts';

/** Limits of one run. A missing limit means unlimited. */
export interface Budget {
  readonly turns?: number;
  /** Input and output tokens, including those read from the provider's cache. */
  readonly tokens?: number;
  /** In the currency of the model's price; without a price it has no effect. */
  readonly cost?: number;
  /** Time in this process: a resumed run starts at zero. */
  readonly seconds?: number;
}

/** Returns why a run must stop, as a message to the person; undefined when it may continue. */
export function overBudget(
  budget: Budget,
  run: RunProgress,
  { seconds, price }: { seconds: number; price: Price | undefined },
) {
  const { turns, usage } = run;
  const tokens = usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
  const cost = price === undefined ? 0 : costOf(usage, price);
  if (turns >= (budget.turns ?? Infinity))
    return `It used all of its ${budget.turns} turns. Send "continue" for as many again.`;
  if (tokens >= (budget.tokens ?? Infinity)) return `It used ${tokens} tokens; the limit is ${budget.tokens}.`;
  if (cost >= (budget.cost ?? Infinity)) return `It cost ${cost.toFixed(2)}; the limit is ${budget.cost}.`;
  if (seconds >= (budget.seconds ?? Infinity))
    return `It took ${Math.round(seconds)} s; the limit is ${budget.seconds} s.`;
  return undefined;
}

const MILLION = 1_000_000;

export function costOf({ input, output, cacheRead, cacheWrite }: Usage, price: Price): number {
  const read = cacheRead * (price.cacheRead ?? price.input);
  const write = cacheWrite * (price.cacheWrite ?? price.input);
  return (input * price.input + output * price.output + read + write) / MILLION;
}
