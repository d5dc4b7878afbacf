import { posix } from 'node:path';
import type { ProgramNames } from '../../../shell/command-plan.ts';
import type { ShellScript } from '../../../shell/parse-script.ts';
import type { SimpleCommand } from '../../../shell/simple-command.ts';

const FETCHERS = new Set(['curl', 'wget', 'fetch', 'aria2c', 'http', 'https', 'lynx', 'nc', 'ncat', 'socat']);
const RUNNERS = /^(sh|bash|dash|zsh|ksh|ash|fish|python[\d.]*|perl|ruby|node|php|source|\.)$/;

/** Whether a script runs a download: through a pipe, a substitution, or a file in between. */
export function runsDownload({ commands, pipelines }: ShellScript, namesOf: ProgramNames): boolean {
  const fetches = (command: SimpleCommand) => namesOf(command).some((name) => FETCHERS.has(name));
  const runs = (command: SimpleCommand) => namesOf(command).some((name) => RUNNERS.test(name));
  return (
    pipelines.some((pipeline) => {
      const fetch = pipeline.findIndex((stage) => stage.some(fetches));
      return fetch !== -1 && pipeline.findLastIndex((stage) => stage.some(runs)) > fetch;
    }) ||
    commands.some((command) => isSubstituted(command) && (runs(command) || namesOf(command).includes('eval'))) ||
    runsSaved(commands, fetches, runs)
  );
}

/** `bash <(curl …)`, `sh -c "$(curl …)"`, `eval "$(wget …)"`. */
function isSubstituted({ words }: SimpleCommand): boolean {
  return words.some(({ text, runs }) => runs && SUBSTITUTED_FETCH.test(text));
}

const SUBSTITUTED_FETCH = new RegExp(`(?:\\$\\(|<\\(|\`)\\s*(?:sudo\\s+)?(?:${[...FETCHERS].join('|')})\\b`);

/** `curl -o a x && bash ./a`, `wget x/a.sh; chmod +x a.sh; ./a.sh`. */
function runsSaved(
  commands: readonly SimpleCommand[],
  fetches: (command: SimpleCommand) => boolean,
  runs: (command: SimpleCommand) => boolean,
): boolean {
  const files = new Set(commands.filter(fetches).flatMap(savedTo));
  if (files.size === 0) return false;
  return commands.some((command) => {
    const [program, ...args] = command.words.map(({ value }) => posix.normalize(value ?? ''));
    if (program !== undefined && files.has(program) && command.words[0]?.value?.includes('/')) return true;
    return runs(command) && args.some((file) => files.has(file));
  });
}

/** The files that a fetcher saves to, as far as its words say. */
function savedTo({ words, redirections }: SimpleCommand): string[] {
  const texts = words.map(({ value }) => value ?? '');
  const named = texts.flatMap((text, at) => {
    if (/^(-[a-zA-Z]*[oO]|--output|--output-document|--out)$/.test(texts[at - 1] ?? '')) return [text];
    return /^(?:-[oO]|--output=|--output-document=|--out=)(.+)$/.exec(text)?.[1] ?? [];
  });
  const byUrl = texts.flatMap((text) => /^[^-].*\/([^/?#]+)(?:[?#].*)?$/s.exec(text)?.[1] ?? []);
  const targets = redirections.map(({ target }) => target.value ?? '');
  return [...named, ...byUrl, ...targets].filter((file) => file !== '').map((file) => posix.normalize(file));
}
