import { fail } from '../kernel/result.ts';
import type { Sandbox } from '../kernel/sandbox.ts';
import type { Caller, Search } from '../kernel/workspace.ts';
import type { Place } from './place.ts';

export function searchFor(_caller: Caller, _given: { place: Place; sandbox: Sandbox | undefined }): Search {
  const later = async () => fail('NOT_CONFIGURED', 'no search yet');
  return { glob: later, grep: later };
}
