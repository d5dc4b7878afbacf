import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import type { BlobStore } from '../kernel/ports.ts';
import { type ContractCheck, checksOf } from './contract.ts';

type OpenBlobs = () => Promise<{ subject: BlobStore; close(): void | Promise<void> }>;

/** Contract of every blob store. */
export function blobContract(open: OpenBlobs): ContractCheck[] {
  return checksOf<BlobStore>(open, {
    async 'what was put comes back byte for byte'(blobs) {
      for (const bytes of [Buffer.alloc(0), Buffer.from([0, 255, 10, 13]), Buffer.alloc(300_000, 7)]) {
        const handle = await blobs.put(bytes);
        const got = await blobs.get(handle);
        assert.ok(got.ok);
        assert.deepEqual(Buffer.from(got.value), bytes);
      }
    },

    async 'the handle is the hash of the bytes, so the same bytes are kept once'(blobs) {
      const bytes = Buffer.from('hello');
      const expected = hash('sha256', bytes, 'hex');
      const handles = await Promise.all([blobs.put(bytes), blobs.put(bytes), blobs.put(Buffer.from('hello'))]);
      assert.deepEqual(handles, [expected, expected, expected]);
    },

    async 'changing the bytes afterwards changes nothing that is kept'(blobs) {
      const bytes = Buffer.from('hello');
      const handle = await blobs.put(bytes);
      bytes.fill(0);
      const got = await blobs.get(handle);
      assert.ok(got.ok && Buffer.from(got.value).toString() === 'hello');
      got.value.fill(0);
      const again = await blobs.get(handle);
      assert.ok(again.ok && Buffer.from(again.value).toString() === 'hello');
    },

    async 'a handle that is unknown or makes no sense is FILE_NOT_FOUND'(blobs) {
      for (const handle of ['0'.repeat(64), 'nonsense', '', '../../etc/passwd', `${'0'.repeat(63)}/`]) {
        const got = await blobs.get(handle);
        assert.ok(!got.ok && got.error.code === 'FILE_NOT_FOUND', handle);
      }
    },
  });
}
