import type { Sandbox } from '../kernel/sandbox.ts';
import type { Caller, Search } from '../kernel/workspace.ts';
import { globFiles } from './glob.ts';
import { grepFiles } from './grep.ts';
import type { Place } from './place.ts';
import { ripgrepFor } from './ripgrep.ts';
import type { Searcher } from './search-scope.ts';

export function searchFor(caller: Caller, given: { place: Place; sandbox: Sandbox | undefined }): Search {
  const { place, sandbox } = given;
  const searcher = (): Searcher => ({ place, rg: ripgrepFor(caller, place.names.real, sandbox) });
  return {
    glob: (query) => globFiles(searcher(), query),
    grep: (query) => grepFiles(searcher(), query),
  };
}
