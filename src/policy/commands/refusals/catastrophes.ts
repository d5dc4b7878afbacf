import type { CommandPlan } from '../../../shell/command-plan.ts';
import type { ShellScript } from '../../../shell/parse-script.ts';
import { isPrecious, type Surroundings } from '../../../shell/resolve-path.ts';
import type { SimpleCommand } from '../../../shell/simple-command.ts';
import { operandsAmong, plainWord, type ShellWord } from '../../../shell/words.ts';
import { runsDownload } from './downloads.ts';

interface CommandUse {
  readonly name: string;
  readonly args: readonly ShellWord[];
}

/** Programs that are also looked for inside the words of another command. */
export function isDestroyer(name: string): boolean {
  return /^(?:rm|rmdir|unlink|shred|truncate|find|chmod|chown|chgrp|dd|wipefs|blkdiscard|mkfs(?:\..+)?)$/.test(name);
}

/** Programs that can take away what their operands name. */
const LOSES_PLACES = /^(?:rm|find|chmod|chown|chgrp|chattr|setfacl|mv|truncate|shred|unlink|rmdir|rsync|tar)$/;

/**
 * Returns why a command is refused in every mode and whatever the rules, or undefined. The sandbox would contain most of
 * these; a person should not even be asked.
 */
export function catastrophe(
  { name, args }: CommandUse,
  cwds: readonly string[],
  where: Surroundings,
): string | undefined {
  const isLost = (word: ShellWord) => isPrecious(word, cwds, where);
  const precious = LOSES_PLACES.test(name) ? operandsAmong(args).find(isLost) : undefined;
  const has = (pattern: RegExp) => args.some(({ seen }) => pattern.test(seen));
  const isRecursive = () => has(/^-[a-zA-Z]*[rR]|^--r/) || args.some(mayBeOption);

  if (name === 'rm' && isRecursive()) {
    if (precious) return `it would delete ${precious.text} and everything in it`;
    if (args.some(({ runs }) => runs)) return 'it would delete whatever another command prints';
  }
  if (name === 'find' && precious && (has(/^-delete$/) || runsRemover(args)))
    return `it would delete what is in ${precious.text}`;
  if (['chmod', 'chown', 'chgrp', 'chattr', 'setfacl'].includes(name) && precious && isRecursive()) {
    return `it would change the permissions of everything in ${precious.text}`;
  }
  if (['mv', 'truncate', 'shred', 'unlink', 'rmdir'].includes(name) && precious)
    return `it would destroy ${precious.text}`;
  if (/^(mkfs(\..+)?|mke2fs|mkswap|wipefs|fdisk|sfdisk|cfdisk|sgdisk|parted|blkdiscard|hdparm|badblocks)$/.test(name)) {
    return `${name} overwrites disks`;
  }
  if (name === 'dd' && args.some((word) => word.seen.includes('of=') && isLost(behindEquals(word))))
    return 'it would overwrite a device or the system';
  if (name === 'rsync' && precious && has(/^--(del|delete|remove-source-files)/))
    return `it would empty ${precious.text}`;
  if (name === 'tar' && precious && has(/^--remove-files$/)) return `it would delete ${precious.text}`;
  if (
    ['tee', 'cp', 'ln', 'install', 'rsync'].includes(name) &&
    has(/^\/(dev\/(sd|hd|vd|xvd|nvme|mmcblk|disk|mem|kmem)|proc\/sysrq)/)
  ) {
    return 'it would overwrite a device';
  }
  const overwritten = writtenBy(name, args).find((word) => !word.home && isLost(word));
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
  if (name === 'kill' && has(/^\$\{?PPID\}?$/)) return 'it would end the process that runs it';
  if (['pkill', 'killall'].includes(name) && has(/toolwright/)) return 'it would end Toolwright';
  if (name === 'killall5') return 'it would end every process';
  return undefined;
}

/** The operands that a command overwrites: all of tee's, the last of those that copy or edit. */
function writtenBy(name: string, args: readonly ShellWord[]): readonly ShellWord[] {
  const operands = operandsAmong(args);
  if (name === 'tee') return operands;
  if (name === 'tar' || name === 'unzip') return unpackedTo(name, args);
  const isWritten =
    name === 'sed' ? args.some(({ seen }) => /^(-[a-zA-Z]*i|--in-place)/.test(seen)) : operands.length > 1;
  if (!/^(?:cp|ln|install|rsync|sed)$/.test(name) || !isWritten) return [];
  // A dash alone may also be the value of an option.
  return operands.filter(({ seen }) => seen !== '-').slice(-1);
}

/** `tar -xC /`, `unzip a -d /`. */
function unpackedTo(name: string, args: readonly ShellWord[]): readonly ShellWord[] {
  const folder = name === 'tar' ? /^(-[a-zA-Z]*C|--directory)$/ : /^-[a-zA-Z]*d$/;
  const packs = args.some(
    ({ seen }, at) => (at === 0 || seen.startsWith('-')) && /^-?[a-zA-Z]*[ctru][a-zA-Z]*$/.test(seen),
  );
  if (name === 'tar' && packs) return [];
  return args.flatMap((word, at) => {
    if (folder.test(args[at - 1]?.seen ?? '')) return [word];
    return word.seen.startsWith('--directory=') ? [behindEquals(word)] : [];
  });
}

/** Whether `find` is told to run a program that removes, by itself or behind others. */
function runsRemover(args: readonly ShellWord[]): boolean {
  const at = args.findIndex(({ seen }) => /^-(?:exec|ok)(?:dir)?$/.test(seen));
  return at !== -1 && args.slice(at + 1).some(({ seen }) => REMOVERS.test(seen.replace(/^.*\//s, '')));
}

const REMOVERS = /^(rm|shred|unlink|rmdir|mv)$/;

/** The value of a word such as `of=/dev/sda`. */
function behindEquals({ text, value, seen, ...word }: ShellWord): ShellWord {
  const behind = (whole: string) => whole.slice(whole.indexOf('=') + 1);
  return { ...word, text: behind(text), value: value === null ? null : behind(value), seen: behind(seen) };
}

/** Whether a computed word may become options: `$X`, `{-r,-f}`, `-{r,f}`, `"-$X"`. */
export function mayBeOption({ value, text, home }: ShellWord): boolean {
  return value === null && !home && text !== '{}' && /^("?-|[$`{])/.test(text);
}

/** Why a redirection to this word is refused: it leads to a device or a kernel trigger. */
export function catastrophicTarget(word: ShellWord): string | undefined {
  return /^\/(dev\/(sd|hd|vd|xvd|nvme|mmcblk|disk|mapper|mem|kmem|port)|proc\/(sysrq-trigger|kcore)|sys\/)/.test(
    word.value ?? '',
  )
    ? `it would write to ${word.value}`
    : undefined;
}

/** Why a script of a plan is refused as a whole, where its parts alone look ordinary. */
export function catastrophicScript(
  script: ShellScript,
  { namesOf }: CommandPlan,
  where: Surroundings,
): string | undefined {
  if (script.forkBomb) return 'it is a fork bomb';
  if (runsDownload(script, namesOf)) return 'it would run what it downloads';
  const removes = (command: SimpleCommand) => {
    const [first = '', ...inner] = namesOf(command);
    return /^(?:xargs|parallel)$/.test(first) && inner.some((name) => REMOVERS.test(name));
  };
  const preciousOf = (words: readonly ShellWord[]) => words.find((word) => isPrecious(word, [where.root], where));
  const looked = new Map<SimpleCommand, boolean>();
  const namesPrecious = (command: SimpleCommand): boolean => {
    const found = looked.get(command) ?? preciousOf(command.words.slice(1)) !== undefined;
    looked.set(command, found);
    return found;
  };
  for (const pipeline of script.pipelines) {
    const remove = pipeline.findLastIndex((stage) => stage.some(removes));
    // A command belongs to every pipeline around it, so each is checked once and only where it matters.
    if (pipeline.slice(0, Math.max(0, remove)).some((stage) => stage.some(namesPrecious)))
      return 'it would delete what another command lists outside the workspace';
  }
  for (const command of script.commands) {
    if (command.input === undefined || !removes(command)) continue;
    const lost = preciousOf(command.input.split(/\s+/).filter(Boolean).map(plainWord));
    if (lost !== undefined) return `it would delete ${lost.text} and everything in it`;
  }
  return undefined;
}
