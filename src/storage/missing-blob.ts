import { fail, type Result } from '../kernel/result.ts';

export function unknownBlob(handle: string): Result<never> {
  const message = `There is no artifact ${handle}: it was never kept, or it was forgotten since. Run the call again.`;
  return fail('FILE_NOT_FOUND', message);
}

export function damagedBlob(handle: string): Result<never> {
  const message = `Artifact ${handle} is damaged: its bytes no longer fit its name. Run the call again.`;
  return fail('FILE_NOT_FOUND', message, { damaged: true });
}
