import type { Command } from 'commander';
import { type Cli, failWith } from '../cli.ts';

/** Generates completions from the program's own list of commands. */
export function define(command: Command, cli: Cli): void {
  command.argument('<shell>', cli.words.options.shell).action((shell: string) => {
    const names = (command.parent?.commands ?? []).map((one) => one.name()).filter((name) => name !== 'help');
    const script = SCRIPTS[shell]?.(names, command.parent?.commands ?? []);
    if (script !== undefined) return cli.print(script);
    failWith(cli, { code: 'INVALID_INPUT', message: cli.words.noShell(shell, Object.keys(SCRIPTS).join(', ')) });
  });
}

const OPTIONS = ['--workspace', '--json', '--lang', '--mode', '--help'];

const SCRIPTS: Record<string, (names: readonly string[], commands: readonly Command[]) => string> = {
  bash: (names) => `# eval "$(toolwright completion bash)"
_toolwright() {
  local word="\${COMP_WORDS[COMP_CWORD]}"
  if [ "$COMP_CWORD" -eq 1 ]; then COMPREPLY=($(compgen -W "${names.join(' ')}" -- "$word"))
  elif [[ "$word" == -* ]]; then COMPREPLY=($(compgen -W "${OPTIONS.join(' ')}" -- "$word"))
  else COMPREPLY=($(compgen -f -- "$word")); fi
}
complete -o filenames -F _toolwright toolwright`,
  zsh: (_, commands) => `#compdef toolwright
# eval "$(toolwright completion zsh)"
_toolwright() {
  local -a commands=(${commands.map((one) => `'${one.name()}:${quoted(one.description())}'`).join(' ')})
  if (( CURRENT == 2 )); then _describe command commands
  elif [[ "$words[CURRENT]" == -* ]]; then compadd -- ${OPTIONS.join(' ')}
  else _files; fi
}
compdef _toolwright toolwright`,
  fish: (_, commands) =>
    [
      '# toolwright completion fish | source',
      ...commands.map(
        (one) => `complete -c toolwright -n __fish_use_subcommand -a ${one.name()} -d '${quoted(one.description())}'`,
      ),
      ...OPTIONS.map((option) => `complete -c toolwright -l ${option.slice(2)}`),
    ].join('\n'),
};

function quoted(text: string): string {
  return text.replace(/[':]/g, ' ');
}
