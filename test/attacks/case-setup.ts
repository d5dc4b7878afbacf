import type { Attack } from './attack.ts';
import { readSettings } from './case-settings.ts';
import { isKnownAnswer } from './runners/web-answers.ts';

type Reads = (attack: Attack) => boolean;

const ofClass =
  (...names: readonly string[]): Reads =>
  ({ class: name }) =>
    names.includes(name);
const inMode =
  (...modes: readonly Attack['mode'][]): Reads =>
  ({ mode }) =>
    modes.includes(mode);
const runsCommands: Reads = ({ tool }) => tool === 'bash' || tool === 'run_code';
const always: Reads = () => true;

/** Situations in words, each with the cases whose runner, or whose fixture, brings it about. */
const IN_WORDS: Readonly<Record<string, readonly (readonly [RegExp, Reads])[]>> = {
  state: [
    [/^one pending approval \S+$/, (attack) => inMode('http')(attack) || ofClass('sbx.self-approve')(attack)],
    [/^token rotated while the server runs; an SSE and a WS opened with the old token$/, inMode('http')],
    [/^exactly one other session is live$/, inMode('http')],
    [/^our server listening on 127\.0\.0\.1:\S+$/, always],
    [/^host process listens on (abstract socket \\0\S+|\S+\.sock)$/, always],
    [/^fake broker socket at \S+\.sock bound like the host path$/, always],
    [/^runtime started from a terminal$/, ofClass('sbx.tiocsti')],
    [/^SIGKILL the runtime while the code runs$/, ofClass('sbx.parent-death')],
    [/^session read \S+, then it was changed on disk by an editor$/, ({ class: name }) => name.startsWith('data.')],
    [/^model has seen only a truncated first page$/, ({ class: name }) => name.startsWith('data.')],
  ],
  race: [
    [/^loop renameat2\(EXCHANGE\)/, ({ mode, class: name }) => mode === 'race' && name.startsWith('path.')],
    [/^when \S+ is there, the host runs: .+$/, (attack) => inMode('race')(attack) && runsCommands(attack)],
  ],
  fault: [
    [/^SIGKILL the runtime \d+-\d+ ms after the call starts$/, ofClass('data.torn-write')],
    [
      /^SIGKILL the runtime when \S+ is there; start it again; run bash: .+; then the host runs .+$/,
      (attack) => inMode('fault')(attack) && runsCommands(attack),
    ],
  ],
  dns: [[/^\S+\s*->\s*\S/, inMode('netstub')]],
  env: [
    [/^PATH without bwrap$|^PATH=\S+$/, runsCommands],
    [/^(?!PATH\b)[A-Z0-9_, ]+ ?= ?\S+( in the runtime( process)?| taken from a repo \.env)?$/, always],
  ],
};

/** Throws about the first line of a set-up that nothing reads; the case would pass without what it is about. */
export function checkSetup(attack: Attack): void {
  const { id, setup } = attack;
  readSettings(attack);
  for (const line of setup) {
    const [, kind = '', text = ''] = /^(\w+):\s*(.*)$/s.exec(line) ?? [];
    if (kind === 'sh' || kind === 'cfg') continue;
    const isRead =
      kind === 'net'
        ? attack.mode === 'netstub' && isKnownAnswer(text)
        : IN_WORDS[kind]?.some(([shape, reads]) => shape.test(text) && reads(attack));
    if (isRead !== true)
      throw new Error(`${id}: nothing reads "${line}" here. Write it as another case does, or teach the harness.`);
  }
}

/** Throws about a `{{NAME}}` that has no value: it would stand for itself, and be nowhere. */
export function checkFilled({ id, input, setup, expect }: Attack): void {
  const [unknown] = /\{\{[A-Z0-9_]+\}\}/.exec(JSON.stringify([input, setup, expect])) ?? [];
  if (unknown !== undefined) throw new Error(`${id}: ${unknown} has no value here. Write it as another case does.`);
}
