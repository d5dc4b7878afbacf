import type { Sandbox } from '../kernel/sandbox.ts';
import type { Caller, Search } from '../kernel/workspace.ts';
import { globFiles } from './glob.ts';
import { grepFiles } from './grep.ts';
import { ripgrepFor } from './ripgrep.ts';
import type { Searcher } from './search-scope.ts';

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
