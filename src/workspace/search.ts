import type { Sandbox } from '../kernel/world/sandbox.ts';
import type { Caller, Search } from '../kernel/world/workspace.ts';
import { globFiles } from './search/glob.ts';
import { grepFiles } from './search/grep.ts';
import { ripgrepFor } from './search/ripgrep.ts';
import type { Searcher } from './search/search-scope.ts';

export function searchFor(
  caller: Caller,
  { place, secrets, sandbox }: Omit<Searcher, 'rg' | 'signal'> & { readonly sandbox: Sandbox | undefined },
): Search {
  const searcher = async (): Promise<Searcher> => {
    // A machine whose sandbox does not work can still search: on the host, with every hit checked again.
    const usable = sandbox !== undefined && (await sandbox.status()).ok ? sandbox : undefined;
    return { place, secrets, signal: caller.signal, rg: ripgrepFor(caller, place.names.real, usable) };
  };
  return {
    glob: async (query) => globFiles(await searcher(), query),
    grep: async (query) => grepFiles(await searcher(), query),
  };
}
