import { findBubblewrap, notInstalled } from '../sandbox/bubblewrap/detect.ts';
import { openModel } from './agent/open-model.ts';
import type { Texts } from './config/texts.ts';
import type { App } from './open-app.ts';

export interface Finding {
  readonly what: string;
  /** `limited`: it works, with less. */
  readonly state: 'fine' | 'limited' | 'broken';
  readonly detail: string;
  /** The next step, if there is one. */
  readonly repair?: string;
}

const MIN_NODE_VERSION = [22, 19];

/** Tries everything that Toolwright needs and says how to repair what does not work. */
export async function diagnose(app: App, env: Texts): Promise<Finding[]> {
  return [node(), await sandbox(app), await search(app), model(app, env), await record(app)];
}

function node(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = MIN_NODE_VERSION;
  const fine = major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
  const found = { what: 'node', detail: process.version };
  return fine ? { ...found, state: 'fine' } : { ...found, state: 'broken', repair: 'Install Node 22.19 or newer.' };
}

/** Returns trouble that is known without trying the sandbox, which would delay the start of a server. */
export function sandboxTrouble({ sandbox }: App): string | undefined {
  if (sandbox.kind === 'none') return UNPROTECTED;
  const missing = sandbox.kind === 'bubblewrap' && findBubblewrap() === null ? notInstalled() : undefined;
  return missing?.ok === false ? missing.error.message : undefined;
}

const UNPROTECTED = 'commands run unprotected';

async function sandbox({ sandbox, loaded }: App): Promise<Finding> {
  const status = await sandbox.status();
  if (!status.ok) {
    const { message, details } = status.error;
    return { what: 'sandbox', state: 'broken', detail: message, repair: String(details?.repair ?? message) };
  }
  const { kind, isolated } = status.value;
  if (isolated) return { what: 'sandbox', state: 'fine', detail: kind };
  const source = loaded.sources.sandbox;
  const repair = `Remove "sandbox: none" (${source}) to run commands isolated.`;
  return { what: 'sandbox', state: 'limited', detail: UNPROTECTED, repair };
}

/** Searches the workspace like a tool. */
async function search(app: App): Promise<Finding> {
  const signal = AbortSignal.timeout(10_000);
  const caller = {
    callId: 'doctor',
    session: 'doctor',
    workingDir: app.context.workingDir,
    timeout: 10,
    signal,
    admitted: null,
  };
  const query = { pattern: '*', path: '.', includeHidden: false, includeIgnored: false, limit: 1 };
  const found = await app.workspace.search(caller).glob(query);
  if (found.ok) return { what: 'ripgrep', state: 'fine', detail: 'search works' };
  return {
    what: 'ripgrep',
    state: 'broken',
    detail: found.error.message,
    repair: 'Run `npm ci` again in the installation.',
  };
}

function model({ loaded }: App, env: Texts): Finding {
  const opened = openModel(loaded.config, env, loaded.modelKeys);
  if (opened.ok) return { what: 'model', state: 'fine', detail: opened.value.name };
  const repair = 'Without one, `toolwright chat` is in manual mode and `toolwright demo` plays a script.';
  return { what: 'model', state: 'limited', detail: opened.error.message, repair };
}

async function record({ store, loaded }: App): Promise<Finding> {
  const { problems, events } = await store.verify();
  if (problems.length === 0) return { what: 'record', state: 'fine', detail: `${events} events in ${loaded.stateDir}` };
  return {
    what: 'record',
    state: 'broken',
    detail: problems[0] ?? '',
    repair: 'Run `toolwright verify` for all of it.',
  };
}
