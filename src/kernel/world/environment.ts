/**
 * Variables whose value is never a program, a path or a setting by name: they change what is printed, or are data, such as an author's
 * name. Any other variable in front of a command may change what runs.
 */
const HARMLESS =
  /^(TZ|TERM|COLUMNS|LINES|NO_COLOR|FORCE_COLOR|CLICOLOR|CI|PORT|NODE_ENV|NODE_NO_WARNINGS|RUST_BACKTRACE|RUST_LOG|LOG_LEVEL|DEBUG|VERBOSE|SOURCE_DATE_EPOCH|GIT_(AUTHOR|COMMITTER)_(NAME|EMAIL|DATE)|GIT_TERMINAL_PROMPT|GIT_OPTIONAL_LOCKS|PYTHON(UNBUFFERED|DONTWRITEBYTECODE|HASHSEED|UTF8|FAULTHANDLER|NODEBUGRANGES|OPTIMIZE))$/;

/** A Makefile that uses a variable runs what these say in it: to make a variable of the environment is a text to expand. */
const EXPANDED = /[$`;&|<>\\\n\r]/;

/** Variables that a shell or the programs it starts obey: they decide what runs, or where it reads its settings. */
const OBEYED =
  /^(PATH|IFS|ENV|TEXTDOMAIN\w*|LANGUAGE|SHELL|SHELLOPTS|BASHOPTS|HOME|CDPATH|OLDPWD|DIRSTACK|GLOBIGNORE|PS\d|PROMPT_COMMAND|HISTFILE|EDITOR|VISUAL|PAGER|BROWSER|BASH\w*|LD_\w+|DYLD_\w+|GIT_\w+|SSH_\w+|GREP_\w+|RIPGREP_\w+|LESS\w*|MAN\w*|TAR_\w+|NODE_\w+|NPM_\w+|npm_\w+|PYTHON\w*|PERL\w*|RUBY\w*|JAVA_\w+|_JAVA\w*|GCC_\w+|GCONV_PATH|XDG_\w+|TOOLWRIGHT_\w+|\w+_PROXY|\w+_proxy)$/;

const LOCALE = /^(LANG|LC_\w+)$/;
/** Locales in which every byte of ASCII is that character: in others a backslash may be half of one. */
const PLAIN_LOCALE = /^(C|POSIX|en_[A-Z]{2}|\w*\.utf-?8(@\w+)?)?$/i;

export function isHarmlessVariable(name: string, value = ''): boolean {
  return (HARMLESS.test(name) && !EXPANDED.test(value)) || (LOCALE.test(name) && PLAIN_LOCALE.test(value));
}

/** Without a value: whether any value of it is obeyed. */
export function isObeyedVariable(name: string, value?: string): boolean {
  if (LOCALE.test(name)) return value === undefined || !PLAIN_LOCALE.test(value);
  return !HARMLESS.test(name) && OBEYED.test(name);
}
