import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ApprovalRequest, Logger } from '../../src/kernel/ports.ts';
import { KEEPING_TOOL } from '../../src/kernel/tool/kept-changes.ts';
import { createFilePolicy, type FilePolicy } from '../../src/kernel/world/file-policy.ts';
import type { Sandbox } from '../../src/kernel/world/sandbox.ts';
import { createDialer } from '../../src/net/dialer.ts';
import { createPolicy, type ExplainingPolicy } from '../../src/policy/create-policy.ts';
import { deniedReading } from '../../src/policy/rules/denied-reading.ts';
import { type KnownTools, parseRules } from '../../src/policy/rules/parse-rules.ts';
import { withStrictList } from '../../src/policy/rules/strict-list.ts';
import { createProcesses } from '../../src/processes/create-processes.ts';
import { createToolwright, type Toolwright } from '../../src/runtime/create-toolwright.ts';
import { createBubblewrap } from '../../src/sandbox/bubblewrap/bubblewrap.ts';
import { createStages } from '../../src/stages/create-stages.ts';
import { createStubInternet } from '../../src/testing/stub-internet.ts';
import { builtInTools } from '../../src/tools/index.ts';
import { openWorkspace, type Workspace } from '../../src/workspace/open-workspace.ts';
import type { Attack } from './attack.ts';
import type { CaseSettings } from './case-settings.ts';
import type { Fixture } from './fixture.ts';

export interface CommandWorld extends AsyncDisposable {
  readonly toolwright: Toolwright;
  /** Undoes a call. */
  readonly undo: Workspace['undo'];
  /** The approval requests that a person got. */
  readonly asked: ApprovalRequest[];
  /** Lines of the log, at every level. */
  readonly logged: string[];
}

const KNOWN_TOOLS: KnownTools = {
  has: () => true,
  tool: (name) => builtInTools.find((tool) => tool.name === name),
};

/** Creates the file policy of a case, as the product makes it of the rules. */
export function filePolicyFor({ settings }: Fixture): FilePolicy {
  const rules = parseRules({ deny: settings.deny }, KNOWN_TOOLS);
  return createFilePolicy(rules.ok ? deniedReading(rules.value) : []);
}

/** Creates the policy of a case by its settings, or with some of them replaced. */
export function policyFor(fixture: Fixture, replaced: Partial<CaseSettings> = {}): ExplainingPolicy {
  const { settings, values } = fixture;
  const { mode = settings.mode, allow = settings.allow, ask = settings.ask, deny = settings.deny } = replaced;
  const given = { allow, ask, deny };
  const rules = parseRules(mode === 'strict' ? withStrictList(given, ['bash']) : given, KNOWN_TOOLS);
  if (!rules.ok) throw new Error(rules.error.message);
  return createPolicy({
    mode,
    rules: rules.value,
    files: filePolicyFor(fixture),
    home: values['HOME'] ?? '/root',
  });
}

export interface PersonsAnswers {
  /** To every request in words. */
  readonly approve: boolean;
  /** To requests about changes of commands. */
  readonly keep?: boolean;
  /** Settings other than those of the case. */
  readonly replaced?: Partial<CaseSettings>;
}

/**
 * Opens policy, sandbox, workspace and tools as a user has them. `approve` is the person's answer to every request in words; what a
 * command changed is kept only of an ordinary call, or with `keep`.
 */
export async function openCommandWorld(
  fixture: Fixture,
  { approve, keep = isOrdinary(fixture.attack), replaced = {} }: PersonsAnswers,
): Promise<CommandWorld> {
  const { folder, workspace, values, path } = fixture;
  const stateDir = join(folder, 'state');
  mkdirSync(stateDir, { recursive: true });
  const policy = filePolicyFor(fixture);
  const { commandHosts: hosts } = fixture.settings;
  const internet = await createStubInternet((_request, response) => response.end('a page'));
  const sandbox = createBubblewrap({
    filePolicy: policy,
    ...(hosts.length > 0 && { dialer: createDialer(internet.dialer) }),
    path: path ?? '/usr/bin:/bin',
    home: values['HOME'] ?? '/root',
    stateDir,
  });
  // The sandbox is probed first, as a server does at start, so that a time limit covers the command alone.
  await sandbox.status();
  const files = await openWorkspace({
    root: workspace,
    policy,
    journal: { folder: join(stateDir, 'journal') },
    sandbox,
  });
  const home = values['HOME'] ?? '/root';
  const processes = createProcesses({
    sandbox: markProcesses(sandbox, values['MARK'] ?? ''),
    stages: createStages({ sandbox, policy, home }),
    ...(hosts.length > 0 && { network: { hosts } }),
  });
  const asked: ApprovalRequest[] = [];
  const logged: string[] = [];
  const toolwright = createToolwright({
    tools: builtInTools,
    world: processes.addTo(files),
    policy: policyFor(fixture, replaced),
    logger: loggerTo(logged),
    approver: (request) => {
      asked.push(request);
      return { approved: request.tool === KEEPING_TOOL ? keep : approve };
    },
  });
  return {
    toolwright,
    undo: (callId) => files.undo(callId),
    asked,
    logged,
    async [Symbol.asyncDispose]() {
      await processes.close();
      files.close();
      await sandbox.close();
      await internet[Symbol.asyncDispose]();
    },
  };
}

/** An ordinary call that must work, with all that it does. */
function isOrdinary({ control, expect }: Attack): boolean {
  return control && expect.any_of.every((each) => each === 'allow');
}

/** Puts the case's mark into the environment of every process, so that leftovers can be found. */
function markProcesses(sandbox: Sandbox, mark: string): Sandbox {
  return {
    kind: sandbox.kind,
    status: () => sandbox.status(),
    compare: (request) => sandbox.compare(request),
    open: (request) => sandbox.open(request),
    close: () => sandbox.close(),
    run: (request) => sandbox.run({ ...request, env: { ...request.env, MARK: mark } }),
  };
}

function loggerTo(lines: string[]): Logger {
  const log = (fields: object, message: string) => {
    lines.push(JSON.stringify({ ...fields, message }));
  };
  return { debug: log, info: log, warn: log, error: log, isLevelEnabled: () => true };
}
