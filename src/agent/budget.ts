import type { Usage } from '../kernel/call/message.ts';
import type { Price } from '../models/model.ts';
import type { RunSoFar } from './session.ts';

/** How much one run may use. What is left out is not limited. */
export interface Budget {
  readonly turns?: number;
  /** Tokens in and out, also those read from the provider's cache. */
  readonly tokens?: number;
  /** In the currency of the model's price; without a price it limits nothing. */
  readonly cost?: number;
  /** Of this process: a run that is taken up again gets its time anew. */
  readonly seconds?: number;
}

/** Why a run may not go on, in words for the person; undefined when it may. */
export function overBudget(
  budget: Budget,
  run: RunSoFar,
  { seconds, price }: { seconds: number; price: Price | undefined },
) {
  const { turns, usage } = run;
  const tokens = usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
  const cost = price === undefined ? 0 : costOf(usage, price);
  if (turns >= (budget.turns ?? Infinity))
    return `It used all of its ${budget.turns} turns. Say «go on» for as many again.`;
  if (tokens >= (budget.tokens ?? Infinity)) return `It used ${tokens} tokens; ${budget.tokens} were allowed.`;
  if (cost >= (budget.cost ?? Infinity)) return `It cost ${cost.toFixed(2)}; ${budget.cost} was allowed.`;
  if (seconds >= (budget.seconds ?? Infinity))
    return `It took ${Math.round(seconds)} s; ${budget.seconds} s were allowed.`;
  return undefined;
}

const MILLION = 1_000_000;

export function costOf({ input, output, cacheRead, cacheWrite }: Usage, price: Price): number {
  const read = cacheRead * (price.cacheRead ?? price.input);
  const write = cacheWrite * (price.cacheWrite ?? price.input);
  return (input * price.input + output * price.output + read + write) / MILLION;
}
