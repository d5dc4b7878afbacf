import { describe, expect, test } from 'vitest';
import { explainFailure, findBubblewrap, notInstalled, wrongPlatform } from './detect.ts';

const off = 'bwrap: No permissions to create new namespace, likely because the kernel does not allow it';

describe('when the sandbox cannot run, the message names the repair', () => {
  test.each([
    [
      'bwrap: setting up uid map: Permission denied',
      { '/proc/sys/kernel/unprivileged_userns_clone': '0' },
      'sysctl -w kernel.unprivileged_userns_clone=1',
    ],
    [off, { '/proc/sys/user/max_user_namespaces': '0' }, 'sysctl -w user.max_user_namespaces=15000'],
    [off, { '/proc/sys/kernel/apparmor_restrict_unprivileged_userns': '1' }, 'AppArmor restricts them'],
    [off, {}, '--security-opt seccomp=unconfined'],
    ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", {}, 'systempaths=unconfined'],
    ['bwrap: Unknown option --size', {}, 'Version 0.8 or newer'],
    ['something nobody has seen', {}, 'something nobody has seen'],
    ['', {}, 'bwrap --ro-bind / / true'],
  ])('%s %j', (said, settings, repair) => {
    const result = explainFailure(said, (path) => (settings as Record<string, string>)[path] ?? null);
    expect(result).toMatchObject({ ok: false, error: { code: 'SANDBOX_UNAVAILABLE' } });
    expect(result.ok || result.error.message).toContain(repair);
  });

  test('not installed, and not on Linux', () => {
    expect(findBubblewrap(['/nowhere/bwrap'])).toBeNull();
    expect(notInstalled()).toMatchObject({ ok: false, error: { code: 'SANDBOX_UNAVAILABLE' } });
    expect(wrongPlatform('win32')).toMatchObject({ ok: false, error: { message: expect.stringContaining('win32') } });
  });
});
