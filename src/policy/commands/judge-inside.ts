import type { InsideReading } from '../../shell/inside-readings.ts';
import type { Surroundings } from '../../shell/resolve-path.ts';
import { knownWords } from '../rules/word-pattern.ts';
import { ask, type CommandPart, NETWORK, REFUSED, type RuleLookup, type Ruling, refuse } from './command-judgement.ts';
import { outsideLoss } from './outside-losses.ts';
import { catastrophe } from './refusals/catastrophes.ts';

interface InsidePlace {
  readonly folders: readonly string[];
  readonly where: Surroundings;
  readonly rules: RuleLookup;
}

type InsidePart = Omit<CommandPart, 'text'>;

/** Programs that run what they are given on another machine or in a container, whose paths are not those of this host. */
const ELSEWHERE = /^(?:docker|docker-compose|podman|nerdctl|lxc|kubectl|oc|ssh|adb|vagrant|ansible)$/;
/** A path below a top-level folder. On another machine its loss may be harmless, while the loss of a whole machine never is. */
const NAMES_A_PLACE = /(^|\s)\/[^\s/]+\/[^\s]/;

/** Judges words inside a command by the refusals, the ask and deny rules, and what nothing takes back outside. `by`: the command's program. */
export function judgeInside({ words, kind }: InsideReading, by: string, place: InsidePlace): readonly InsidePart[] {
  const [first, ...args] = words;
  const program = first?.value ?? null;
  if (program === null) return [];
  const found: Ruling[] = [];
  const danger = by === 'mentioned' ? undefined : catastrophe({ name: program, args }, place.folders, place.where);
  if (danger !== undefined) found.push(refuse(danger));
  const ruled = place.rules.find(knownWords(program, args));
  if (ruled !== undefined && ruled.verdict !== 'allow') found.push(ruled);
  const loses = by === 'mentioned' ? undefined : outsideLoss(program, args);
  const parts = found.flatMap((ruling) => weigh({ ...ruling, program }, kind, by));
  if (loses === undefined || kind === 'mentions') return parts;
  const why = `${program} ${loses} cannot be taken back. Only a rule that names ${loses} allows it without approval.`;
  return [...parts, { ...ask(NETWORK, why), program, isOutside: true, loses }];
}

/** Adjusts a part by where it would happen: paths on another machine are not the user's, and a mentioned text need not run. */
function weigh(part: InsidePart, kind: InsideReading['kind'], by: string): InsidePart[] {
  const why = part.reason.replace(REFUSED, '');
  if (kind === 'mentions' || by === 'mentioned')
    return [{ ...part, verdict: 'ask', reason: `If the text in it is run: ${why}` }];
  const isThere = part.reason !== why && ELSEWHERE.test(by) && NAMES_A_PLACE.test(why);
  return isThere ? [{ ...part, verdict: 'ask', reason: `On another machine or in a container: ${why}` }] : [part];
}
