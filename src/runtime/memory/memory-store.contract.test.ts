import { describe, test } from 'vitest';
import { blobContract } from '../../testing/blob-contract.ts';
import { storeContract } from '../../testing/store-contract.ts';
import { MemoryBlobs } from './memory-blobs.ts';
import { MemoryStore } from './memory-store.ts';

describe('the memory store keeps what every store promises', () => {
  for (const { title, run } of storeContract(async () => ({ subject: new MemoryStore(), close() {} })))
    test(title, run);
});

describe('blobs in memory keep what every blob store promises', () => {
  for (const { title, run } of blobContract(async () => ({ subject: new MemoryBlobs(), close() {} }))) test(title, run);
});
