import type { SessionFlow } from '../../kernel/call/session-flow.ts';
import type { Subject, Verdict } from '../../kernel/ports.ts';
import { andThen, fail, isPromise, type MaybePromise, type Result } from '../../kernel/result.ts';
import { type Access, UNKNOWN_ACCESS } from '../../kernel/tool/access.ts';
import type { OwnReason, PlanFailure } from '../../kernel/tool/plan.ts';
import type { Tool } from '../../kernel/tool/tool.ts';
import type { UnagreedTexts } from '../../kernel/world/unagreed-texts.ts';
import type { PlannedPlace } from '../../kernel/world/workspace.ts';
import { takeTurn } from '../order/take-turn.ts';
import type { Runtime } from '../runtime.ts';
import { type CallScope, type Ending, ending, failedByItself } from './call-scope.ts';
import { type DerivedPlan, derivePlan } from './plan-call.ts';
import { placesOf, resolveSymlinks } from './resolve-symlinks.ts';

/** Valid arguments for a tool, after the hooks. */
export interface ProposedCall {
  readonly tool: Tool;
  readonly input: unknown;
}

/**
 * A call with its plan and the verdict of policy on it. Shown to a person, bound to their approval and run is this
 * object.
 */
export interface PlannedCall extends ProposedCall {
  readonly kind: 'planned';
  /** Undefined for a tool that makes no plan. */
  readonly derived: DerivedPlan | undefined;
  /** The subject that policy judged, with the access that the call asks for. */
  readonly subject: Subject;
  readonly verdict: Verdict;
  /** The access that policy grants. */
  readonly access: readonly Access[];
  /** Where the paths lead that it may change. */
  readonly places: readonly PlannedPlace[] | undefined;
  /** Why the call would need approval. Set only for a dry run, which is admitted without one. */
  readonly wouldAsk: string | undefined;
  /**
   * The digest that a person approved. It is compared again when the call's turn comes, because it may wait for others.
   */
  readonly approvedDigest: string | undefined;
  /** The paths that it changes and whose change was shown to that person as a whole. Left out: none. */
  readonly agreedPaths?: readonly string[];
}

/** plan → policy. A call that cannot work ends here, whatever the mode, unless a rule or the file policy denies it. */
export function judgeCall(rt: Runtime, call: CallScope, proposed: ProposedCall): MaybePromise<PlannedCall | Ending> {
  const preparing = rt.world.prepare?.(call.session);
  return preparing === undefined
    ? judgePrepared(rt, call, proposed)
    : judgeWhenReady(rt, call, { proposed, preparing });
}

interface AwaitedWorld {
  readonly proposed: ProposedCall;
  readonly preparing: Promise<Result<void>>;
}

async function judgeWhenReady(
  rt: Runtime,
  call: CallScope,
  { proposed, preparing }: AwaitedWorld,
): Promise<PlannedCall | Ending> {
  const ready = await call.bounded(preparing);
  return ready.ok ? judgePrepared(rt, call, proposed) : failedByItself(ready);
}

function judgePrepared(rt: Runtime, call: CallScope, proposed: ProposedCall): MaybePromise<PlannedCall | Ending> {
  const { tool, input } = proposed;
  call.stage = 'definition';
  call.judgedAfter = rt.locks.changes;
  if (tool.plan !== undefined) return judgePlanned(rt, call, proposed);
  const access = tool.access?.(input, call.ctx) ?? UNKNOWN_ACCESS;
  const own = tool.approval?.(input, call.ctx);
  if (isPromise(access) || isPromise(own)) return judgeLater(rt, call, { tool, input, access, own });
  return askPolicy(rt, call, { tool, input, access, own, derived: undefined, places: placesOf(access, call.ctx) });
}

interface AwaitedAccess extends ProposedCall {
  readonly access: MaybePromise<readonly Access[]>;
  readonly own: MaybePromise<OwnReason | undefined>;
}

async function judgeLater(rt: Runtime, call: CallScope, awaited: AwaitedAccess): Promise<PlannedCall> {
  const { tool, input } = awaited;
  const [declared, own] = await Promise.all([call.bounded(awaited.access), call.bounded(awaited.own)]);
  const access = declared ?? UNKNOWN_ACCESS;
  return askPolicy(rt, call, { tool, input, access, own, derived: undefined, places: placesOf(access, call.ctx) });
}

async function judgePlanned(rt: Runtime, call: CallScope, proposed: ProposedCall): Promise<PlannedCall | Ending> {
  const { tool, input } = proposed;
  const plan = tool.plan?.(input, call.ctx);
  const derived = plan && (await call.bounded(derivePlan(plan, call.ctx)));
  if (derived?.ok !== true) return refuseFailing(rt, call, { proposed, failure: derived ?? NO_PLAN });
  const { access, own, places } = derived;
  return askPolicy(rt, call, { tool, input, access, own, derived, places });
}

const NO_PLAN: PlanFailure = fail('INTERNAL', 'The tool made no plan.') as PlanFailure;

interface FailingCall {
  readonly proposed: ProposedCall;
  readonly failure: PlanFailure;
}

/**
 * Ends a call whose plan cannot work, without a question. A denial by a rule or the file policy comes first, so that nobody
 * learns by the failure what is at a denied path; that of a mode does not, since it says nothing about the path. If an earlier call is still about to change that path, the call is planned again after
 * it.
 */
async function refuseFailing(
  rt: Runtime,
  call: CallScope,
  { proposed, failure }: FailingCall,
): Promise<PlannedCall | Ending> {
  const access = failure.access ?? [];
  const { verdict } = await askPolicy(rt, call, {
    ...proposed,
    access,
    own: undefined,
    derived: undefined,
    places: undefined,
  });
  if (verdict.verdict === 'deny' && verdict.byMode !== true) return refused(verdict);
  if (await isOvertaken(rt, call, access)) return judgeCall(rt, call, proposed);
  return failedByItself(failure);
}

/** Waits for earlier calls that conflict with this one. Returns true if files were changed meanwhile. */
async function isOvertaken(rt: Runtime, call: CallScope, access: readonly Access[]): Promise<boolean> {
  const hasTurn = call.ticket?.held === true;
  if (hasTurn || call.request.isReview || call.context.dryRun) return false;
  await takeTurn(rt.locks, call, access);
  const { judgedAfter } = call;
  const changes = rt.locks.changes;
  if (call.ticket !== undefined) rt.locks.release(call.ticket);
  return judgedAfter !== changes;
}

interface JudgedAccess extends ProposedCall {
  readonly access: readonly Access[];
  readonly own: OwnReason | undefined;
  readonly derived: DerivedPlan | undefined;
  readonly places: readonly PlannedPlace[] | undefined;
  readonly flow?: SessionFlow;
  readonly unagreed?: UnagreedTexts;
}

function askPolicy(rt: Runtime, call: CallScope, given: JudgedAccess): MaybePromise<PlannedCall> {
  const judged = call.request.isLive ? { ...given, access: liveAccess(given.access) } : given;
  call.request.turn?.declare(judged.access);
  const unagreed = runsCommand(judged) && rt.policy.wantsUnagreed?.() ? rt.world.unagreed?.(call.session) : undefined;
  if (unagreed === undefined) return askAboutFlow(rt, call, judged);
  return andThen(call.bounded(unagreed), (known) => askAboutFlow(rt, call, { ...judged, unagreed: known }));
}

function askAboutFlow(rt: Runtime, call: CallScope, judged: JudgedAccess): MaybePromise<PlannedCall> {
  if (!maySend(rt, call, judged)) return decide(rt, call, judged);
  call.stage = 'store';
  const flow = call.bounded(rt.flows.of(call.session));
  return andThen(flow, (known) => decide(rt, call, { ...judged, flow: known }));
}

function runsCommand({ access }: JudgedAccess): boolean {
  return access.some(({ kind }) => kind === 'process.run');
}

/** Whether the flow of the session matters for the verdict. A review shows it in any case. */
function maySend(rt: Runtime, call: CallScope, { tool, access }: JudgedAccess): boolean {
  if (call.request.isReview) return true;
  if (rt.policy.wantsFlow?.() !== true) return false;
  return tool.flow?.sends === true || access.some(({ kind }) => SENDING_KINDS.has(kind));
}

const SENDING_KINDS: ReadonlySet<Access['kind']> = new Set(['process.run', 'net.fetch', 'unknown']);

function decide(rt: Runtime, call: CallScope, judged: JudgedAccess): MaybePromise<PlannedCall> {
  const { tool, own, access, flow, unagreed } = judged;
  const wantsPlaces = call.request.isReview === true || rt.policy.wantsPlaces?.(tool.name, access) === true;
  const places = wantsPlaces ? resolveSymlinks(access, call.ctx.files) : undefined;
  call.stage = 'policy';
  const subject: Subject = {
    tool: tool.name,
    args: call.args,
    access,
    effect: tool.effect,
    ownReason: typeof own === 'object' ? own.reason : own,
    asksAlways: typeof own === 'object',
    ...(places !== undefined && { places }),
    ...(rt.world.collects?.(call.session) && { isCollected: true }),
    ...(tool.flow?.sends !== undefined && { sends: tool.flow.sends }),
    ...(flow !== undefined && { flow }),
    ...(unagreed !== undefined && { unagreed }),
    ...judged.derived?.plan.staged,
    context: call.context,
  };
  const verdict = call.bounded(rt.policy.decide(subject));
  return isPromise(verdict)
    ? verdict.then((late) => planned(judged, subject, late))
    : planned(judged, subject, verdict);
}

/** The access of a repeated call: it wants to write the real files. */
function liveAccess(access: readonly Access[]): readonly Access[] {
  return access.map((each) =>
    each.kind === 'process.run' && each.writes === 'stage' ? { ...each, writes: 'workspace' } : each,
  );
}

function planned({ tool, input, derived, places }: JudgedAccess, subject: Subject, given: Verdict): PlannedCall {
  const isKnown = given.verdict === 'allow' || given.verdict === 'ask';
  const verdict: Verdict = isKnown ? given : { ...given, verdict: 'deny' };
  const access = verdict.access ?? subject.access;
  return {
    kind: 'planned',
    tool,
    input,
    derived,
    subject,
    verdict,
    access,
    places,
    wouldAsk: undefined,
    approvedDigest: undefined,
  };
}

export function refused({ reason, rule, code = 'PERMISSION_DENIED', details }: Verdict): Ending {
  return ending('denied', fail(code, reason, { rule, ...details }));
}
