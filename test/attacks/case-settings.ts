import { MODES, type Mode } from '../../src/policy/mode.ts';
import type { Attack } from './attack.ts';

/** The settings of a case: those of the whole catalogue, and its own `cfg:` lines. */
export interface CaseSettings {
  readonly mode: Mode;
  readonly allow: readonly string[];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
  /** Hosts that web tools may read; `*` is every public one. */
  readonly hosts: readonly string[];
  /** Hosts that commands with network may reach. */
  readonly commandHosts: readonly string[];
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
  commandHosts: [],
  writeLimitMb: null,
  linkedWorkspace: null,
};

type Reading = (match: readonly string[], soFar: CaseSettings, tool: string) => Partial<CaseSettings>;

const LINES: readonly (readonly [RegExp, Reading])[] = [
  [/^command allowed$/, () => ({ mode: 'auto' })],
  [new RegExp(`^mode (${MODES.join('|')})$`), ([, mode]) => ({ mode: mode as Mode })],
  // For cases about what a mode keeps: the rule of the catalogue would answer in its place.
  [/^changes are kept as the mode says$/, () => ({ ask: [] })],
  [/^allowlist contains "([^"]+)"$/, ([, listed], _soFar, tool) => ({ allow: [`${tool}(${listed})`] })],
  [/^(allow|ask|deny) (\w+\(.*\))$/, ([, verdict = '', rules = ''], soFar) => addRules(soFar, verdict, rules)],
  [/^allowlist\s*=\s*(\[[^\]]*\])(?: \(.*\))?$/, ([, list = '[]']) => ({ hosts: JSON.parse(list) as string[] })],
  [/^allowlist\s+([\w.*-]+)$/, ([, host = '']) => ({ hosts: [host] })],
  [/^allowedHosts ([\w.*:,-]+)$/, ([, hosts = '']) => ({ commandHosts: hosts.split(',') })],
  [/^(?:sandbox )?write limit (\d+) MB$/, ([, size]) => ({ writeLimitMb: Number(size) })],
  [/^workspace given as symlink (\S+) -> \S+$/, ([, link = null]) => ({ linkedWorkspace: link })],
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

/** Settings that remember who looked at them: a line that sets one that nobody reads has changed nothing about the case. */
export interface TrackedSettings {
  readonly settings: CaseSettings;
  /** The `cfg:` lines that nothing has read so far. */
  unread(): string[];
}

export function trackSettings(attack: Pick<Attack, 'setup' | 'tool'>): TrackedSettings {
  const values = readSettings(attack);
  const read = new Set<string>();
  const lines = attack.setup.filter((line) => line.startsWith('cfg:'));
  return {
    settings: new Proxy(values, {
      get(_target, key) {
        read.add(String(key));
        return values[key as keyof CaseSettings];
      },
    }),
    unread: () =>
      lines.filter((line) => !Object.keys(readLine(line, values, attack.tool)).every((key) => read.has(key))),
  };
}

/** Several rules stand in one line, with a comma between them. */
function addRules(soFar: CaseSettings, verdict: string, rules: string): Partial<CaseSettings> {
  const list = verdict as 'allow' | 'ask' | 'deny';
  return { [list]: [...soFar[list], ...rules.split(/(?<=\)),\s*/)] };
}
