import { StoreError } from '../kernel/call/store-error.ts';

export function newerSchema(where: string, version: number, known: number): StoreError {
  const versions = `it has schema ${version}, and this version knows up to ${known}`;
  return new StoreError('newer', `${where} was written by a newer Toolwright: ${versions}. Update Toolwright.`);
}
