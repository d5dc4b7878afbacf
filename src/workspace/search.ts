import type { Sandbox } from '../kernel/sandbox.ts';
import type { Caller, Search } from '../kernel/workspace.ts';
import { globFiles } from './glob.ts';
import { grepFiles } from './grep.ts';
import { ripgrepFor } from './ripgrep.ts';
import type { Searcher } from './search-scope.ts';

export function searchFor(
  caller: Caller,
  { place, secrets, sandbox }: Omit<Searcher, 'rg'> & { readonly sandbox: Sandbox | undefined },
): Search {
  const searcher = (): Searcher => ({ place, secrets, rg: ripgrepFor(caller, place.names.real, sandbox) });
  return {
    glob: (query) => globFiles(searcher(), query),
    grep: (query) => grepFiles(searcher(), query),
  };
}
