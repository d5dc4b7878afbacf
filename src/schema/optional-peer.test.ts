import { expect, test } from 'vitest';
import { optionalPeer } from './optional-peer.ts';

test('a library that is not installed is named with the command that installs it', async () => {
  const missing = 'a-package-that-nobody-has-installed';
  await expect(optionalPeer(missing, () => import(/* @vite-ignore */ missing))).rejects.toMatchObject({
    code: 'NOT_CONFIGURED',
    message: `${missing} is not installed. Add it to your project: npm install ${missing}`,
  });
});

test('a library that fails for another reason is not called missing', async () => {
  await expect(optionalPeer('x', () => Promise.reject(new Error('broken inside')))).rejects.toThrow('broken inside');
});
