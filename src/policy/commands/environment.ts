import type { Assignment } from './shell-script.ts';

/** Variables that only change how a program speaks. Any other one in front of a command may change what runs. */
const HARMLESS =
  /^(LANG|LANGUAGE|LC_\w+|TZ|TERM|COLUMNS|LINES|NO_COLOR|FORCE_COLOR|CLICOLOR|CI|NODE_ENV|RUST_BACKTRACE|RUST_LOG|LOG_LEVEL|DEBUG|VERBOSE|SOURCE_DATE_EPOCH)$/;

/** Variables that a shell or the programs it starts obey: set on a line of their own, they reach everything behind. */
const OBEYED =
  /^(PATH|IFS|ENV|SHELL|SHELLOPTS|BASHOPTS|HOME|CDPATH|GLOBIGNORE|PS\d|PROMPT_COMMAND|HISTFILE|EDITOR|VISUAL|PAGER|BROWSER|BASH\w*|LD_\w+|DYLD_\w+|GIT_\w+|SSH_\w+|GREP_\w+|RIPGREP_\w+|LESS\w*|MAN\w*|TAR_\w+|NODE_\w+|NPM_\w+|npm_\w+|PYTHON\w*|PERL\w*|RUBY\w*|JAVA_\w+|_JAVA\w*|GCC_\w+|XDG_\w+|\w+_PROXY|\w+_proxy)$/;

/** Why an assignment matters, or undefined. `prefix`: it stands in front of a command, as in `A=1 make`. */
export function riskyAssignment({ name, text, computed }: Assignment, prefix: boolean): string | undefined {
  if (prefix && !HARMLESS.test(name)) return `${text} may change what runs.`;
  if (OBEYED.test(name)) return `${text} changes what later commands do.`;
  return prefix && computed ? `The value of ${name} is known only at run time.` : undefined;
}
