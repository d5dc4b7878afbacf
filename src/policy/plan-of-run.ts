import { type CommandPlan, readCommandPlan } from '../shell/command-plan.ts';
import type { ProcessRun } from './access-judgement.ts';

const plans = new WeakMap<ProcessRun, CommandPlan>();

/**
 * Returns the plan of a command line. It is read once for each access: the judgement, the rules of "always" and an explanation of the same
 * call are given the same plan. Code in another language than bash has no commands.
 */
export function planOfRun(run: ProcessRun): CommandPlan {
  const source = run.code === undefined || run.code === 'bash' ? run.command : '';
  const known = plans.get(run);
  // A tool that changes its access in place has made another one.
  if (known?.source === source) return known;
  const plan = readCommandPlan(source);
  plans.set(run, plan);
  return plan;
}
