import { describe, expect, test } from 'vitest';
import { seatbeltProfile } from './seatbelt-profile.ts';

const base = {
  workspace: '/Users/me/project',
  mode: 'live' as const,
  privateFolder: '/private/tmp/tw-1',
  found: [],
  toolchains: ['/Users/me/.nvm'],
  denied: ['/Users/me/.nvm/token'],
  proxyPort: null,
};

/** The rules that speak about a path, in the order of the profile. */
function rulesAbout(profile: string, path: string): string[] {
  return profile.split('\n').filter((line) => line.includes(`"${path}"`));
}

describe('the seatbelt profile', () => {
  test('denies everything it does not allow, network included', () => {
    const profile = seatbeltProfile(base);
    expect(profile).toMatch(/^\(version 1\)\n\(deny default\)\n/);
    expect(profile).toContain('(deny network*)');
    expect(profile).not.toContain('allow network');
  });

  test('lets only mode live write to the workspace', () => {
    expect(rulesAbout(seatbeltProfile(base), base.workspace)).toHaveLength(2);
    expect(rulesAbout(seatbeltProfile({ ...base, mode: 'read' }), base.workspace)).toHaveLength(1);
  });

  test('denies hidden and protected paths below the rules that allow the workspace', () => {
    const profile = seatbeltProfile({
      ...base,
      found: [
        { path: 'app/.env', kind: 'file', access: 'hidden', rule: null },
        { path: '.git/hooks', kind: 'directory', access: 'read-only', rule: null },
      ],
    });
    const allowed = profile.lastIndexOf('(allow file-write*');
    for (const path of ['/Users/me/project/app/.env', '/Users/me/.nvm/token']) {
      expect(profile.indexOf(`(deny file-read* file-write* (subpath "${path}"))`)).toBeGreaterThan(allowed);
    }
    expect(profile).toContain('(deny file-write-unlink (literal "/Users/me/project/app"))');
    expect(profile.indexOf('(deny file-write* (subpath "/Users/me/project/.git/hooks"))')).toBeGreaterThan(allowed);
    expect(profile).toContain('(deny file-write-unlink (literal "/Users/me/project/.git"))');
    expect(profile).toContain('(deny file-write* (subpath "/Users/me/project/.toolwright"))');
  });

  test('reaches our proxy and nothing else when hosts are allowed', () => {
    const profile = seatbeltProfile({ ...base, proxyPort: 3128 });
    expect(profile.match(/network[^\n]*/g)).toEqual(['network-outbound (remote tcp "localhost:3128"))']);
  });

  test('cannot be left by a name with a quote in it', () => {
    const profile = seatbeltProfile({ ...base, workspace: '/tmp/a") (allow default) ("' });
    expect(profile).not.toMatch(/^\(allow default\)/m);
    expect(profile).toContain('(subpath "/tmp/a\\") (allow default) (\\"")');
  });
});
