import { fail, type Result } from '../../kernel/result.ts';
import type { Commands } from '../../kernel/world/commands.ts';
import type { Stages } from '../../kernel/world/stage.ts';
import type { Web } from '../../kernel/world/web.ts';
import type { Files, Search, World } from '../../kernel/world/workspace.ts';

/** The world without a workspace: every request fails with a message that says how to configure one. */
export const unconfiguredWorld: World = { root: '', files: () => noFiles, search: () => noSearch };

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
  secretIn: async () => null,
};

const noSearch: Search = { glob: refuseLater, grep: refuseLater };

const refuseCommand = (): Result<never> =>
  fail(
    'NOT_CONFIGURED',
    'This tool needs a sandbox for commands: pass the executor a world from addTo of openCommands.',
  );
const refuseCommandLater = async () => refuseCommand();

/** For a world without commands. */
export const noCommands: Commands = {
  run: refuseCommandLater,
  start: refuseCommandLater,
  list: () => [],
  process: refuseCommand,
  output: refuseCommand,
  input: refuseCommand,
  stop: refuseCommandLater,
  stageOf: refuseCommandLater,
};

/** For a world whose commands stage nothing. */
export const noStages: Stages = {
  find: async () => fail('FILE_NOT_FOUND', 'There are no pending changes here.'),
  list: async () => [],
};

const refuseWeb = async (): Promise<Result<never>> =>
  fail('NOT_CONFIGURED', 'This tool needs web access: pass the executor a world from withWeb.');

/** For a world without a network. */
export const noWeb: Web = { fetch: refuseWeb, search: refuseWeb, pdfText: refuseWeb };
