import { z } from 'zod';
import { access, verdict } from './access.ts';
import { callState, outcome } from './calls.ts';
import { pathDecisionKind } from './path-decisions.ts';

/**
 * Events as they are recorded and sent over SSE: `event:` is `type`, `data:` the whole object. Recorded events have a
 * position (`seq` in their session, `pos` over all); the SSE id is `seq` on a stream of one session and `pos` on the
 * stream of all. Live events have neither: a client that missed them reads the state instead.
 */
const place = { session: z.string(), seq: z.int(), pos: z.int(), at: z.number() };
const ofCall = { ...place, callId: z.string() };
const ofNone = { ...place, callId: z.null() };

const recorded = <T extends string, S extends z.ZodRawShape, D extends z.ZodRawShape>(type: T, where: S, data: D) =>
  z.object({ type: z.literal(type), ...where, data: z.object(data) });

export const recordedEvent = z.discriminatedUnion('type', [
  recorded('call.requested', ofCall, {
    tool: z.string(),
    args: z.unknown(),
    effect: z.string(),
    agent: z.string().nullable(),
  }),
  recorded('call.requeued', ofCall, { tool: z.string(), attempt: z.int(), reason: z.string() }),
  recorded('call.resumed', ofCall, { tool: z.string(), attempt: z.int() }),
  recorded('call.started', ofCall, {
    tool: z.string(),
    args: z.unknown(),
    summary: z.string(),
    access: z.array(access),
    effect: z.string().optional().describe('Left out where it is as requested'),
    brings: z
      .array(z.enum(['private', 'untrusted']))
      .optional()
      .describe('Data that its tool says it brings in'),
    collected: z.literal(true).optional().describe('Its changes go to those that the session collects'),
  }),
  recorded('call.finished', ofCall, {
    tool: z.string(),
    state: callState,
    outcome,
    durationMs: z.number().nullable(),
    args: z.unknown().optional().describe('Of a call that never started'),
  }),
  recorded('call.cancel_requested', ofCall, { by: z.string().nullable() }),
  recorded('approval.requested', ofCall, {
    approvalId: z.string(),
    tool: z.string(),
    args: z.unknown(),
    reason: z.string(),
    digest: z.string(),
    shown: z.object({ summary: z.string() }).optional(),
    expiresAt: z.number().optional(),
  }),
  recorded('approval.decided', ofCall, {
    approvalId: z.string(),
    approved: z.boolean(),
    by: z.string().nullable(),
    message: z.string().optional(),
    changed: z.array(z.string()).optional(),
  }),
  recorded('session.created', ofNone, {
    title: z.string().nullable(),
    workspace: z.string(),
    agent: z.string().nullable(),
    by: z.string().nullable(),
  }),
  recorded('message.added', ofNone, {
    messageId: z.string(),
    role: z.enum(['user', 'assistant', 'notice']),
    text: z.string(),
    callIds: z.array(z.string()).optional(),
    by: z.string().nullable().optional(),
  }),
  recorded('results.added', ofNone, { results: z.array(z.unknown()) }),
  recorded('run.started', ofNone, {
    model: z.string(),
    scripted: z.boolean(),
    unfamiliar: z
      .array(z.string())
      .optional()
      .describe('Notes and skills in the prompt to whose text nobody has agreed'),
  }),
  recorded('run.finished', ofNone, {
    reason: z.enum(['done', 'stopped', 'budget', 'loop', 'refused', 'failed']),
    message: z.string().describe("Why, where it was not the model's own end"),
    turns: z.int(),
    usage: z.object({ input: z.number(), output: z.number(), cacheRead: z.number(), cacheWrite: z.number() }),
  }),
  recorded('rule.saved', ofNone, {
    ruleId: z.string(),
    rule: z.string(),
    verdict,
    by: z.string().nullable(),
    workspace: z.string().nullable().optional().describe('The only one it holds in; null or left out: all'),
  }),
  recorded('rule.removed', ofNone, { ruleId: z.string(), by: z.string().nullable() }),
  recorded('path.decided', ofNone, {
    decisionId: z.string(),
    workspace: z.string(),
    path: z.string(),
    kind: pathDecisionKind,
    digest: z.string().nullable().describe('SHA-256 of the text that was agreed to; null for the other kinds'),
    by: z.string(),
  }),
  recorded('path.taken_back', ofNone, { decisionId: z.string(), by: z.string() }),
  recorded('mode.switched', ofNone, { mode: z.string(), by: z.string().nullable() }),
  recorded('model.switched', ofNone, {
    provider: z.string(),
    model: z.string().nullable(),
    endpoint: z.string().optional(),
    by: z.string().nullable(),
  }),
  recorded('tool.switched', ofNone, { tool: z.string(), enabled: z.boolean(), by: z.string().nullable() }),
]);
export type RecordedEvent = z.infer<typeof recordedEvent>;

export const liveEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('call.progressed'),
    session: z.string(),
    callId: z.string(),
    at: z.number(),
    data: z.object({
      tool: z.string(),
      message: z.string().optional(),
      percent: z.number().optional(),
      output: z.string().optional(),
    }),
  }),
  z.object({
    type: z.literal('message.streamed'),
    session: z.string(),
    callId: z.null(),
    at: z.number(),
    data: z.object({ kind: z.enum(['text', 'thinking', 'call', 'restarted']), text: z.string() }),
  }),
  z.object({
    type: z.literal('file.changed'),
    workspace: z.string(),
    at: z.number(),
    data: z.object({
      changes: z.array(
        z.object({
          path: z.string(),
          kind: z.enum(['created', 'changed', 'deleted']),
          callId: z.string().nullable().describe('Whose change it is, where a tool or a save of the editor made it'),
        }),
      ),
      complete: z.boolean().describe('False: too many to name; look at the tree again'),
    }),
  }),
  /** Earlier events are no longer in the log: read the state again. */
  z.object({ type: z.literal('stream.reset'), at: z.number(), data: z.object({ after: z.int() }) }),
  z.object({ type: z.literal('server.stopping'), at: z.number(), data: z.object({}) }),
]);
export type LiveStreamEvent = z.infer<typeof liveEvent>;

export const streamEvent = z.union([recordedEvent, liveEvent]).meta({ id: 'StreamEvent' });
export type StreamEvent = z.infer<typeof streamEvent>;

export const streamQuery = z.strictObject({
  session: z.string().optional().describe('Left out: all sessions'),
  after: z.coerce.number().int().min(0).optional().describe('Replay what came after; Last-Event-ID says the same'),
});

export const eventQuery = z.strictObject({
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(1000).default(200),
});
export const eventList = z.object({ items: z.array(recordedEvent) }).meta({ id: 'EventList' });
