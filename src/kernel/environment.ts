/** Variables that only change how a program speaks. Any other one in front of a command may change what runs. */
const HARMLESS =
  /^(LANG|LANGUAGE|LC_\w+|TZ|TERM|COLUMNS|LINES|NO_COLOR|FORCE_COLOR|CLICOLOR|CI|NODE_ENV|RUST_BACKTRACE|RUST_LOG|LOG_LEVEL|DEBUG|VERBOSE|SOURCE_DATE_EPOCH)$/;

/** Variables that a shell or the programs it starts obey: they decide what runs, or where it reads its settings. */
const OBEYED =
  /^(PATH|IFS|ENV|SHELL|SHELLOPTS|BASHOPTS|HOME|CDPATH|OLDPWD|DIRSTACK|GLOBIGNORE|PS\d|PROMPT_COMMAND|HISTFILE|EDITOR|VISUAL|PAGER|BROWSER|BASH\w*|LD_\w+|DYLD_\w+|GIT_\w+|SSH_\w+|GREP_\w+|RIPGREP_\w+|LESS\w*|MAN\w*|TAR_\w+|NODE_\w+|NPM_\w+|npm_\w+|PYTHON\w*|PERL\w*|RUBY\w*|JAVA_\w+|_JAVA\w*|GCC_\w+|GCONV_PATH|XDG_\w+|TOOLWRIGHT_\w+|\w+_PROXY|\w+_proxy)$/;

export function isHarmlessVariable(name: string): boolean {
  return HARMLESS.test(name);
}

export function isObeyedVariable(name: string): boolean {
  return !HARMLESS.test(name) && OBEYED.test(name);
}
