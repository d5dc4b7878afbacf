import type { Attack, Observation } from './attack.ts';
import { type AssertFinding, checkAssert, takeSnapshot } from './check-asserts.ts';
import { createFixture, type Fixture } from './fixture.ts';

/** Runs the cases of one part of the product. Runners are registered as `mode:tool`, or `mode:*` for a whole mode. */
export interface Runner {
  /** `decide` only judges. `execute` may run the case, and never gets a case that must not run. */
  readonly kind: 'decide' | 'execute';
  /** Undefined when the case needs a part that does not exist yet. */
  run(fixture: Fixture): Promise<Observation | undefined>;
  /** Hand-written checks for `text:` asserts, by class; the part before the dot stands for all of its classes. */
  readonly texts?: Readonly<Record<string, TextCheck>>;
}

/** Returns undefined when it cannot decide. */
export type TextCheck = (
  fixture: Fixture,
  seen: Observation,
) => Promise<AssertFinding | undefined> | AssertFinding | undefined;

export interface CaseReport {
  readonly id: string;
  readonly passed: boolean;
  /** `pending` and `unchecked` count neither as passed nor as failed. */
  readonly outcome: string;
  readonly reason: string;
}

export interface Report {
  readonly passed: number;
  readonly failed: number;
  readonly pending: number;
  readonly unchecked: number;
  readonly cases: readonly CaseReport[];
}

export type Runners = Readonly<Record<string, Runner>>;

export async function runAttacks(
  attacks: readonly Attack[],
  runners: Runners,
  onCase: (report: CaseReport) => void = () => {},
): Promise<Report> {
  const cases: CaseReport[] = [];
  for (const attack of attacks) {
    const report = await runAttack(attack, runners);
    cases.push(report);
    onCase(report);
  }
  const count = (outcome: string) => cases.filter((each) => each.outcome === outcome).length;
  const [pending, unchecked] = [count('pending'), count('unchecked')];
  const passed = cases.filter((each) => each.passed).length;
  return { passed, failed: cases.length - passed - pending - unchecked, pending, unchecked, cases };
}

async function runAttack(attack: Attack, runners: Runners): Promise<CaseReport> {
  const runner = runnerFor(attack, runners);
  if (runner === undefined) return pending(attack);
  try {
    await using fixture = await createFixture(attack);
    const before = takeSnapshot(fixture.attack.expect.assert);
    const seen = await observe(runner, fixture);
    if (seen === undefined) return pending(attack);
    const report = await judge(runner, fixture, seen, before);
    const [unread] = fixture.unreadSettings();
    if (unread !== undefined)
      throw new Error(`The runner does not read "${unread}": it was tried under other settings.`);
    return report;
  } catch (error) {
    return {
      id: attack.id,
      passed: false,
      outcome: 'threw',
      reason: error instanceof Error ? error.message : String(error),
    };
  }
}

function runnerFor(attack: Attack, runners: Runners): Runner | undefined {
  if (attack.never_execute) return runners[`policy:${attack.tool}`] ?? runners['policy:*'];
  return runners[`${attack.mode}:${attack.tool}`] ?? runners[`${attack.mode}:*`];
}

/** The only place that hands a case to a runner. A case that must never run is refused here, whatever the table says. */
export function observe(runner: Runner, fixture: Fixture): Promise<Observation | undefined> {
  if (fixture.attack.never_execute && runner.kind !== 'decide') {
    throw new Error(`${fixture.attack.id} must never be executed: give it to a runner that only decides.`);
  }
  return runner.run(fixture);
}

async function judge(
  runner: Runner,
  fixture: Fixture,
  seen: Observation,
  before: ReturnType<typeof takeSnapshot>,
): Promise<CaseReport> {
  const { attack } = fixture;
  const allowed = seen.outcomes.find((each) => attack.expect.any_of.includes(each));
  const outcome = allowed ?? seen.outcomes[0] ?? 'nothing';
  const report = (passed: boolean, reason: string) => ({ id: attack.id, passed, outcome, reason });
  if (allowed === undefined) {
    return report(false, `${outcome} is not one of ${attack.expect.any_of.join(', ')}: ${seen.text.slice(0, 200)}`);
  }
  const vacuous = whyVacuous(attack, seen, allowed);
  if (vacuous !== null) return report(false, vacuous);
  const unchecked: string[] = [];
  for (const assertion of attack.expect.assert) {
    const own = checkAssert(assertion, seen, before);
    const verdict = own === undefined ? await checkText(runner, fixture, seen, assertion) : own;
    if (verdict === undefined) unchecked.push(assertion);
    else if (verdict !== null) return report(false, `${assertion}: ${verdict}`);
  }
  if (unchecked.length > 0) return { ...report(false, unchecked.join('; ')), outcome: 'unchecked' };
  return report(true, '');
}

/** Asserts that also hold where nothing was tried at all. */
const NEGATIVE = /^(absent|same|eq|no-leak|no-dial|no-proc):/;

/** Code that failed may have failed before its attempt. The case says with `says:` how far it must come, or with `fails:` how it fails. */
function whyVacuous({ expect }: Fixture['attack'], seen: Observation, outcome: string): string | null {
  if (seen.failed === undefined || (outcome !== 'sandboxed' && outcome !== 'allow')) return null;
  if (!expect.assert.some((each) => NEGATIVE.test(each))) return null;
  if (expect.assert.some((each) => /^(says|fails|text):/.test(each))) return null;
  return `it ran and failed, so that nothing is shown (add a "says:" or "fails:"): ${seen.failed.slice(0, 300)}`;
}

/** Returns undefined when there is no check, which reports the case as unchecked. Null passes. */
async function checkText(
  runner: Runner,
  fixture: Fixture,
  seen: Observation,
  assertion: string,
): Promise<AssertFinding | undefined> {
  if (!isForRunner(assertion)) return undefined;
  const { class: name } = fixture.attack;
  const check = runner.texts?.[name] ?? runner.texts?.[name.split('.')[0] ?? ''];
  return check === undefined ? undefined : check(fixture, seen);
}

/** Kinds of asserts that only the runner of a case can check; an unknown kind is nobody's. */
function isForRunner(assertion: string): boolean {
  return /^(text|status):/.test(assertion);
}

function pending(attack: Attack): CaseReport {
  const reason = `no part of the product takes ${attack.mode}:${attack.tool} yet`;
  return { id: attack.id, passed: false, outcome: 'pending', reason };
}
