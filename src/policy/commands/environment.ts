import { isHarmlessVariable, isObeyedVariable } from '../../kernel/environment.ts';
import type { Assignment } from './shell-script.ts';

/** Why an assignment matters, or undefined. `prefix`: it stands in front of a command, as in `A=1 make`. */
export function riskyAssignment({ name, text, computed }: Assignment, prefix: boolean): string | undefined {
  if (prefix && !isHarmlessVariable(name)) return `${text} may change what runs.`;
  if (isObeyedVariable(name)) return `${text} changes what later commands do.`;
  return prefix && computed ? `The value of ${name} is known only at run time.` : undefined;
}
