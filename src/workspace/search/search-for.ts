import type { Sandbox } from '../../kernel/world/sandbox.ts';
import type { StageFolder } from '../../kernel/world/stage.ts';
import type { Caller, Search } from '../../kernel/world/workspace.ts';
import { globFiles } from './glob.ts';
import { grepFiles } from './grep.ts';
import { ripgrepFor } from './ripgrep.ts';
import type { Searcher } from './search-scope.ts';

export interface SearchParts extends Pick<Searcher, 'root' | 'secrets'> {
  readonly sandbox: Sandbox | undefined;
  /** Search sees what this stage holds. */
  readonly stage?: StageFolder;
}

/** Search on behalf of a call. A machine whose sandbox does not work can still search: on the host, with every hit checked again. */
export function searchFor(caller: Caller, { root, secrets, sandbox, stage }: SearchParts): Search {
  const searcher = async (): Promise<Searcher> => {
    const usable = sandbox !== undefined && (await sandbox.status()).ok ? sandbox : undefined;
    const place = { root: root.names.real, ...(stage && { stage }) };
    return { root, secrets, signal: caller.signal, rg: ripgrepFor(caller, place, usable) };
  };
  return {
    glob: async (query) => globFiles(await searcher(), query),
    grep: async (query) => grepFiles(await searcher(), query),
  };
}
