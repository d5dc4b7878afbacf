import { StoreError } from '../kernel/store-error.ts';
import { SCHEMA_VERSION } from './migrations.ts';

export function newerSchema(where: string, version: number): StoreError {
  const versions = `it has schema ${version}, and this version knows up to ${SCHEMA_VERSION}`;
  return new StoreError('newer', `${where} was written by a newer Toolwright: ${versions}. Update Toolwright.`);
}
