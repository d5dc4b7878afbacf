import { fail, type Result } from '../kernel/result.ts';
import type { Files, Search, World } from '../kernel/workspace.ts';

/** What a tool finds when nobody configured a workspace: an answer that says how to. */
export const noWorld: World = { root: '', open: () => ({ files: noFiles, search: noSearch }) };

const refuse = (): Result<never> =>
  fail(
    'NOT_CONFIGURED',
    'This tool needs a workspace: pass world: openWorkspace({ root }) when you create the executor.',
  );
const refuseLater = async () => refuse();

const noFiles: Files = {
  inspect: refuse,
  list: refuseLater,
  readWindow: refuseLater,
  readText: refuseLater,
  readBytes: refuseLater,
  apply: refuseLater,
  rehearse: refuseLater,
  suggest: async () => [],
};

const noSearch: Search = { glob: refuseLater, grep: refuseLater };
