import { readFileSync } from 'node:fs';
import { isExecutable } from '../../host/files.ts';
import { fail, type Result } from '../../kernel/result.ts';

/** Fixed paths: a `bwrap` in the workspace or on a search path that it controls is never used. */
const PLACES = ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap', '/run/current-system/sw/bin/bwrap'];

export function findBubblewrap(places: readonly string[] = PLACES): string | null {
  return places.find(isExecutable) ?? null;
}

export function notInstalled(): Result<never> {
  return unavailable(
    'bubblewrap is not installed, so commands cannot be isolated and do not run.',
    'Install it: `apt-get install bubblewrap`, `dnf install bubblewrap` or `pacman -S bubblewrap`.',
  );
}

export function wrongPlatform(platform: string): Result<never> {
  return unavailable(
    `bubblewrap runs on Linux and this is ${platform}.`,
    "On macOS set sandbox to 'auto'; elsewhere run Toolwright in a Linux container or machine.",
  );
}

export function noFilter(processor: string): Result<never> {
  return unavailable(
    `There is no filter of system calls for the processor ${processor}, and without it a run could get out.`,
    'Run Toolwright on x64 or arm64.',
  );
}

/** Turns the error of a trial run into the next step for an operator. */
export function explainFailure(message: string, setting: (path: string) => string | null = readSetting): Result<never> {
  if (/unknown option/i.test(message)) {
    return unavailable('The installed bubblewrap is too old.', 'Version 0.8 or newer is needed: update the package.');
  }
  if (/new namespace|uid map|creating new namespace|user namespace|newuidmap|ENOSPC|No space left/i.test(message)) {
    return unavailable(
      'Unprivileged user namespaces are off, and the sandbox is made of them.',
      namespaceRepair(setting),
    );
  }
  if (/mount(ing)? (new )?proc|can't mount proc/i.test(message)) {
    return unavailable(
      'A fresh /proc cannot be mounted here, as in a container that masks it.',
      'Start the container with `--security-opt systempaths=unconfined` (Docker, Podman), or run outside it.',
    );
  }
  return unavailable(
    `bubblewrap could not start a process: ${message.trim().slice(0, 400) || 'it said nothing'}.`,
    'Try `bwrap --ro-bind / / true` in a terminal and repair what it reports.',
  );
}

function namespaceRepair(setting: (path: string) => string | null): string {
  if (setting('/proc/sys/kernel/unprivileged_userns_clone') === '0') {
    return 'Run `sysctl -w kernel.unprivileged_userns_clone=1` as root, and put it into /etc/sysctl.d to keep it.';
  }
  if (setting('/proc/sys/user/max_user_namespaces') === '0') {
    return 'Run `sysctl -w user.max_user_namespaces=15000` as root, and put it into /etc/sysctl.d to keep it.';
  }
  if (setting('/proc/sys/kernel/apparmor_restrict_unprivileged_userns') === '1') {
    return (
      'AppArmor restricts them: give bwrap a profile that allows `userns`, or run ' +
      '`sysctl -w kernel.apparmor_restrict_unprivileged_userns=0` as root.'
    );
  }
  return (
    'In a container, start it with `--security-opt seccomp=unconfined` and `--security-opt apparmor=unconfined`; ' +
    'elsewhere allow user namespaces for your user.'
  );
}

function unavailable(what: string, repair: string): Result<never> {
  return fail('SANDBOX_UNAVAILABLE', `${what} ${repair}`, { repair });
}

function readSetting(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return null;
  }
}
