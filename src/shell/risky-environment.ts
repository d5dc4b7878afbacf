import { isHarmlessVariable, isObeyedVariable } from '../kernel/world/environment.ts';
import type { Assignment } from './simple-command.ts';

/** Variables that change what the words of a command line mean, so that later judgements do not hold. */
export const DECIDING_NAMES =
  'PATH|IFS|ENV|TEXTDOMAIN\\w*|HOME|CDPATH|OLDPWD|DIRSTACK|SHELL|SHELLOPTS|BASHOPTS|BASH_\\w+|GLOBIGNORE|PS\\d|PROMPT_COMMAND|LD_\\w+|DYLD_\\w+';

const DECIDING = new RegExp(`^(?:${DECIDING_NAMES})$`);

export interface AssignmentRisk {
  readonly rule: 'not understood' | 'environment';
  readonly reason: string;
}

/** The risk of an assignment, or undefined. `prefix`: it stands in front of a command, as in `A=1 make`. */
export function riskyAssignment({ name, text, computed }: Assignment, prefix: boolean): AssignmentRisk | undefined {
  if (DECIDING.test(name)) return { rule: 'not understood', reason: `${text} changes what later words mean.` };
  const value = text.slice(text.indexOf('=') + 1).replace(/^(["'])(.*)\1$/s, '$2');
  const isHarmless = isHarmlessVariable(name, value);
  if (isHarmless ? prefix && computed : prefix || isObeyedVariable(name))
    return { rule: 'environment', reason: `${text} may change what runs.` };
  return undefined;
}
