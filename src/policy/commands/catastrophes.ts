import { isPrecious, type Surroundings } from './places.ts';
import type { ShellScript, SimpleCommand } from './shell-script.ts';
import type { ShellWord } from './shell-words.ts';
import { innerCommands, SHELLS } from './wrappers.ts';

/**
 * What is refused in every mode and whatever the rules. Each returns why, or undefined. The sandbox would contain most
 * of it; a person should not even be asked.
 */
export function catastrophe(
  name: string,
  args: readonly ShellWord[],
  cwds: readonly string[],
  where: Surroundings,
  values: readonly ShellWord[] = [],
): string | undefined {
  const precious = args.find((word) => !word.text.startsWith('-') && isPrecious(word, cwds, where));
  const has = (pattern: RegExp) => args.some(({ value, text }) => pattern.test(value ?? text));
  const recursive = has(/^-[a-zA-Z]*[rR]|^--r/) || args.some(({ value, text }) => value === null && /^[$`]/.test(text));

  if (name === 'rm' && recursive) {
    if (precious) return `it would delete ${precious.text} and everything in it`;
    const computed = args.some(({ value }) => value === null);
    const given = computed ? values.find((word) => isPrecious(word, cwds, where)) : undefined;
    if (given) return `it would delete ${given.text} and everything in it`;
    if (args.some(({ runs }) => runs)) return 'it would delete whatever another command prints';
  }
  if (name === 'find' && precious && (has(/^-delete$/) || runsRemover(args)))
    return `it would delete what is in ${precious.text}`;
  if (['chmod', 'chown', 'chgrp', 'chattr', 'setfacl'].includes(name) && recursive && precious) {
    return `it would change the permissions of everything in ${precious.text}`;
  }
  if (['mv', 'truncate', 'shred', 'unlink', 'rmdir'].includes(name) && precious)
    return `it would destroy ${precious.text}`;
  if (/^(mkfs(\..+)?|mke2fs|mkswap|wipefs|fdisk|sfdisk|cfdisk|sgdisk|parted|blkdiscard|hdparm|badblocks)$/.test(name)) {
    return `${name} overwrites disks`;
  }
  if (name === 'dd' && has(/^of=\/(dev\/(?!null|stdout|stderr|tty)|etc|usr|bin|boot)/))
    return 'it would overwrite a device or the system';
  if (
    ['tee', 'cp', 'ln', 'install', 'rsync'].includes(name) &&
    has(/^\/(dev\/(sd|hd|vd|xvd|nvme|mmcblk|disk|mem|kmem)|proc\/sysrq)/)
  ) {
    return 'it would overwrite a device';
  }
  const overwritten = writtenBy(name, args).find((word) => !word.home && isPrecious(word, cwds, where));
  if (overwritten) return `it would overwrite ${overwritten.text}`;
  if (
    /^(insmod|rmmod|modprobe|swapoff|userdel|groupdel|lvremove|vgremove|pvremove|cryptsetup|efibootmgr)$/.test(name)
  ) {
    return `${name} changes this machine`;
  }
  if (/^(ip6?tables|nft)$/.test(name) && has(/^(-F|--flush|-X|flush)$/)) return 'it would drop the firewall';
  if (/^(shutdown|reboot|halt|poweroff|kexec)$/.test(name)) return 'it would stop this machine';
  if (/^(init|telinit)$/.test(name) && has(/^[06]$/)) return 'it would stop this machine';
  if (name === 'systemctl' && has(/^(poweroff|reboot|halt|kexec|emergency|rescue)$/))
    return 'it would stop this machine';
  if (name === 'kill' && args.some(({ value }, at) => value === '-1' && at > 0)) return 'it would end every process';
  if (name === 'killall5') return 'it would end every process';
  return undefined;
}

/** The operands that a command overwrites: all of tee's, the last of those that copy. */
function writtenBy(name: string, args: readonly ShellWord[]): readonly ShellWord[] {
  const operands = args.filter(({ text }) => !text.startsWith('-'));
  if (name === 'tee') return operands;
  return ['cp', 'ln', 'install', 'rsync'].includes(name) && operands.length > 1 ? operands.slice(-1) : [];
}

function runsRemover(args: readonly ShellWord[]): boolean {
  return innerCommands('find', args).some(
    (inner) => inner.kind === 'words' && /^(rm|shred|unlink|rmdir|mv)$/.test(inner.words[0]?.value ?? ''),
  );
}

/** A device or a trigger behind a redirection. */
export function catastrophicTarget(word: ShellWord): string | undefined {
  return /^\/(dev\/(sd|hd|vd|xvd|nvme|mmcblk|disk|mapper|mem|kmem|port)|proc\/(sysrq-trigger|kcore)|sys\/)/.test(
    word.value ?? '',
  )
    ? `it would write to ${word.value}`
    : undefined;
}

const FETCHERS = new Set(['curl', 'wget', 'fetch', 'aria2c', 'http', 'https', 'lynx', 'nc', 'ncat', 'socat']);
const RUNNERS = /^(sh|bash|dash|zsh|ksh|ash|fish|python[\d.]*|perl|ruby|node|php|source|\.)$/;

/** What the whole script does, where its parts alone look ordinary. */
export function catastrophicScript(script: ShellScript, where: Surroundings): string | undefined {
  const { forkBomb, pipelines, commands } = script;
  if (forkBomb) return 'it is a fork bomb';
  for (const pipeline of pipelines) {
    const fetch = pipeline.findIndex((command) => names(command).some((name) => FETCHERS.has(name)));
    const run = pipeline.findLastIndex((command) => names(command).some((name) => RUNNERS.test(name)));
    if (fetch !== -1 && run > fetch) return 'it would run what it downloads';
    const root = pipeline.findIndex(({ words }) =>
      words.slice(1).some((word) => isPrecious(word, [where.root], where)),
    );
    const remove = pipeline.findIndex((command) =>
      /^xargs (rm|shred|unlink)$/.test(names(command).slice(0, 2).join(' ')),
    );
    if (root !== -1 && remove > root) return 'it would delete what another command lists outside the workspace';
  }
  if (commands.some(runsDownload)) return 'it would run what it downloads';
  const files = commands.filter((command) => names(command).some((name) => FETCHERS.has(name))).flatMap(savedTo);
  const run = commands.some(
    (command) =>
      names(command).some((name) => RUNNERS.test(name)) &&
      command.words.some(({ value }) => files.includes(value ?? '')),
  );
  return run ? 'it would run what it downloads' : undefined;
}

/** `bash <(curl …)`, `sh -c "$(curl …)"`, `eval "$(wget …)"`. */
function runsDownload(command: SimpleCommand): boolean {
  const runs = names(command).some((name) => RUNNERS.test(name) || name === 'eval');
  return runs && command.words.some(({ text, runs: computes }) => computes && SUBSTITUTED_FETCH.test(text));
}

const SUBSTITUTED_FETCH = new RegExp(`(?:\\$\\(|<\\(|\`)\\s*(?:sudo\\s+)?(?:${[...FETCHERS].join('|')})\\b`);

function savedTo({ words, redirections }: SimpleCommand): string[] {
  const named = words.filter((_, at) => /^(-o|-O|--output|--output-document)$/.test(words[at - 1]?.text ?? ''));
  return [...named, ...redirections.map(({ target }) => target)].flatMap(({ value }) =>
    value === null ? [] : [value],
  );
}

/** Text that a shell is given to read: by a heredoc, a here-string, or an `echo` in front of it. */
export function scriptsGiven({ commands, pipelines }: ShellScript): string[] {
  const isShell = (command: SimpleCommand) => names(command).some((name) => SHELLS.has(name));
  const given = commands.flatMap((command) => (command.input !== undefined && isShell(command) ? [command.input] : []));
  const piped = pipelines.flatMap((pipeline) =>
    pipeline.slice(1).flatMap((command, at) => {
      const before = pipeline[at];
      const [first, ...words] = before?.words ?? [];
      if (isShell(command) && before?.input !== undefined) return [before.input];
      if (!isShell(command) || !/^(echo|printf)$/.test(first?.value ?? '')) return [];
      return [
        words
          .map(({ value }) => value ?? '')
          .join(' ')
          .replaceAll('\\n', '\n'),
      ];
    }),
  );
  return [...given, ...piped];
}

/** The command's own name and those of the commands it wraps. */
function names({ words }: Pick<SimpleCommand, 'words'>): string[] {
  const [first, ...args] = words;
  const name = first?.value?.replace(/^.*\//, '');
  if (name === undefined) return [];
  return [name, ...innerCommands(name, args).flatMap((inner) => (inner.kind === 'words' ? names(inner) : []))];
}
