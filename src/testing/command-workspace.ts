import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeTree } from '../host/remove-tree.ts';
import type { Dialer } from '../kernel/world/dialer.ts';
import { createFilePolicy } from '../kernel/world/file-policy.ts';
import { createPolicy } from '../policy/create-policy.ts';
import type { Mode } from '../policy/mode.ts';
import type { CommandEffects } from '../policy/policy-options.ts';
import { parseRules, type RuleSet } from '../policy/rules/parse-rules.ts';
import { createBubblewrap } from '../sandbox/bubblewrap/bubblewrap.ts';
import { createNone } from '../sandbox/none.ts';
import { builtInTools } from '../tools/index.ts';
import { createReadFirst } from './read-first-sandbox.ts';
import { type TempOptions, type TempWorkspace, tempWorkspace } from './temp-workspace.ts';

export interface CommandOptions extends TempOptions {
  /** Search path of the host. */
  readonly path: string;
  readonly mode?: Mode;
  /** Files of the user's home folder, by path. */
  readonly homeFiles?: Readonly<Record<string, string>>;
  readonly rules?: RuleSet;
  readonly dialer?: Dialer;
  /** Where changes of commands go; each has its own kind of sandbox. Left out: to a stage. */
  readonly effects?: CommandEffects;
}

/** A temporary workspace in which commands run: real policy, real sandbox, and a scripted person. */
export async function commandWorkspace({
  path,
  mode = 'ask',
  homeFiles = {},
  rules = {},
  dialer,
  effects = 'staged',
  ...given
}: CommandOptions): Promise<TempWorkspace> {
  const around = realpathSync(mkdtempSync(join(tmpdir(), 'toolwright-commands-')));
  const [home, stateDir] = [join(around, 'home'), join(around, 'state')];
  for (const folder of [home, stateDir]) mkdirSync(folder);
  for (const [name, text] of Object.entries(homeFiles)) writeFileSync(join(home, name), text);
  const files = createFilePolicy();
  const tool = (name: string) => builtInTools.find((each) => each.name === name);
  const parsed = parseRules(rules, { has: () => true, tool });
  if (!parsed.ok) throw new Error(parsed.error.message);
  const create = { staged: createBubblewrap, 'read-first': createReadFirst, live: createNone }[effects];
  const sandbox = create({ filePolicy: files, path, home, stateDir, ...(dialer && { dialer }) });
  const workspace = await tempWorkspace({
    ...given,
    parent: around,
    sandbox,
    options: { policy: createPolicy({ mode, rules: parsed.value, files, home, effects }), ...given.options },
  });
  return {
    ...workspace,
    async [Symbol.asyncDispose]() {
      await workspace[Symbol.asyncDispose]();
      await sandbox.close();
      removeTree(around);
    },
  };
}
