import { MODES, type Mode } from '../../src/policy/mode.ts';
import type { Attack } from './attack.ts';
import { isKnownAnswer } from './runners/web-answers.ts';

/** The settings of a case: those of the whole catalogue, and its own `cfg:` lines. */
export interface CaseSettings {
  readonly mode: Mode;
  readonly allow: readonly string[];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
  /** Hosts that web tools may read; `*` is every public one. */
  readonly hosts: readonly string[];
  readonly writeLimitMb: number | null;
  /** The symlink by which the workspace is given. */
  readonly linkedWorkspace: string | null;
}

/** No case keeps a change of a command unless a person says so: what a case asserts to be absent was never let through. */
export const ASK_ABOUT_CHANGES = 'apply_changes(**)';

const OF_THE_CATALOGUE: CaseSettings = {
  mode: 'ask',
  allow: [],
  ask: [ASK_ABOUT_CHANGES],
  deny: [],
  hosts: [],
  writeLimitMb: null,
  linkedWorkspace: null,
};

type Reading = (match: readonly string[], soFar: CaseSettings, tool: string) => Partial<CaseSettings>;

const LINES: readonly (readonly [RegExp, Reading])[] = [
  [/^command allowed\b/, () => ({ mode: 'auto' })],
  [new RegExp(`^mode (${MODES.join('|')})$`), ([, mode]) => ({ mode: mode as Mode })],
  // For cases about what a mode keeps: the rule of the catalogue would answer in its place.
  [/^changes are kept as the mode says$/, () => ({ ask: [] })],
  [/^allowlist contains "([^"]+)"$/, ([, listed], _soFar, tool) => ({ allow: [`${tool}(${listed})`] })],
  [/^(allow|ask|deny) (\w+\(.*\))$/, ([, verdict = '', rules = ''], soFar) => addRules(soFar, verdict, rules)],
  [/^allowlist\s*=\s*(\[[^\]]*\])/, ([, list = '[]']) => ({ hosts: JSON.parse(list) as string[] })],
  [/^allowlist\s+([\w.*-]+)$/, ([, host = '']) => ({ hosts: [host] })],
  [/\bwrite limit (\d+) MB$/, ([, size]) => ({ writeLimitMb: Number(size) })],
  [/^workspace given as symlink (\S+)/, ([, link = null]) => ({ linkedWorkspace: link })],
];

/** Reads the `cfg:` lines of a case; one that is unknown throws, since the case would be tried under other settings. */
export function readSettings({ setup, tool }: Pick<Attack, 'setup' | 'tool'>): CaseSettings {
  const settings: CaseSettings = { ...OF_THE_CATALOGUE };
  for (const line of setup.filter((each) => each.startsWith('cfg:'))) {
    Object.assign(settings, readLine(line, settings, tool));
  }
  return settings;
}

function readLine(line: string, soFar: CaseSettings, tool: string): Partial<CaseSettings> {
  const text = line.slice('cfg:'.length).trim();
  for (const [shape, read] of LINES) {
    const match = shape.exec(text);
    if (match !== null) return read(match, soFar, tool);
  }
  throw new Error(`The harness does not know "${line}". Write it as another case does, or add it to LINES.`);
}

/** Several rules stand in one line, with a comma between them. */
function addRules(soFar: CaseSettings, verdict: string, rules: string): Partial<CaseSettings> {
  const list = verdict as 'allow' | 'ask' | 'deny';
  return { [list]: [...soFar[list], ...rules.split(/(?<=\)),\s*/)] };
}

/** Situations in words, which the runner of the case brings about. */
const IN_WORDS: Readonly<Record<string, RegExp>> = {
  state:
    /^(one pending approval|token rotated while|exactly one other session is live|our server listening on|host process listens on (abstract socket \\0|\S+\.sock)|fake broker socket at \S+\.sock|runtime started from a terminal|SIGKILL the runtime while|session read \S+, then it was changed|model has seen only a truncated)/,
  race: /^loop renameat2\(EXCHANGE\)/,
  fault: /^SIGKILL the runtime \d/,
  dns: /^\S+\s*->\s*\S/,
  env: /^(PATH without bwrap|[A-Z0-9_, ]+=|[A-Z0-9_, ]+ = )/,
};

/** Throws about the first line of a set-up that nothing reads; the case would pass without what it is about. */
export function checkSetup(attack: Attack): void {
  const { id, setup } = attack;
  readSettings(attack);
  for (const line of setup) {
    const [, kind = '', text = ''] = /^(\w+):\s*(.*)$/s.exec(line) ?? [];
    if (kind === 'sh' || kind === 'cfg') continue;
    const isKnown = kind === 'net' ? isKnownAnswer(text) : IN_WORDS[kind]?.test(text);
    if (!isKnown)
      throw new Error(`${id}: nothing reads "${line}". Write it as another case does, or teach the harness.`);
  }
}
