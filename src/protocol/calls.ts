import { z } from 'zod';
import { CALL_STATES } from '../kernel/call/call.ts';
import { ERROR_CODES } from '../kernel/error.ts';
import { access, verdict, verdictPart } from './access.ts';
import { previewBlock } from './preview.ts';
import { viewBlock } from './view.ts';

export const callState = z.enum(CALL_STATES).meta({ id: 'CallState' });

export const failure = z
  .object({
    code: z.string().describe(`A code that a tool made up, or one of ${ERROR_CODES.join(', ')}`),
    message: z.string(),
    details: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'Failure' });

/** Outcome of a call. `text` is for a model, `value` for programs. */
export const outcome = z
  .object({
    ok: z.boolean(),
    text: z.string(),
    value: z.unknown().optional(),
    error: failure.optional(),
    warnings: z.array(z.string()).optional(),
    metadata: z.record(z.string(), z.unknown()).optional(),
    artifact: z
      .string()
      .optional()
      .describe(
        'Set when the text was cut: read all of it at /v1/calls/{id}/output, as where a tool cut its own and metadata names the artifact',
      ),
  })
  .meta({ id: 'Outcome' });

/** Times are wall-clock milliseconds. */
export const call = z
  .object({
    id: z.string(),
    session: z.string(),
    agent: z.string().nullable(),
    tool: z.string(),
    args: z.unknown(),
    state: callState,
    effect: z.enum(['pure', 'idempotent', 'once']),
    requestedAt: z.number(),
    startedAt: z.number().nullable(),
    finishedAt: z.number().nullable(),
    durationMs: z.number().nullable().describe('Of the run; of the decision if it never started'),
    waitedMs: z.number().nullable().describe('From the request to the start: in the queue, and for a person'),
    attempt: z.int(),
    outcome: outcome.nullable(),
    approvedBy: z.string().nullable().describe('Who said yes; null when nobody was asked'),
    deniedBy: z.string().nullable().describe('Who said no; null when nobody did'),
    view: z.array(viewBlock).optional().describe("The tool's own view of its value; only for one call"),
  })
  .meta({ id: 'Call' });
export type CallView = z.infer<typeof call>;

/** Any JSON object; the tool validates it. */
export const args = z.custom<Record<string, unknown>>(isObject, 'args must be an object').meta({
  id: 'Arguments',
  type: 'object',
  additionalProperties: true,
});

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const startCall = z
  .strictObject({
    tool: z.string().min(1).max(200),
    args: args.optional(),
    session: z.string().min(1).max(200).optional().describe('Left out: the default session of the token'),
    key: z.string().min(1).max(200).optional().describe('The same key in the same session is the same call'),
    wait: z.boolean().optional().describe('Default true: answer when the call has ended. False: answer 202 at once'),
    timeout: z.number().positive().max(600).optional().describe('Seconds the call may take'),
    dryRun: z.boolean().optional(),
  })
  .meta({ id: 'StartCall' });
export type StartCall = z.infer<typeof startCall>;

export const undone = z.object({ restored: z.array(z.string()) }).meta({ id: 'Undone' });

export const callOutput = z.object({ text: z.string() }).meta({ id: 'CallOutput' });

export const explainCall = z
  .strictObject({ tool: z.string().min(1).max(200), args: args.optional(), session: z.string().max(200).optional() })
  .meta({ id: 'ExplainCall' });

/** The data that came into a session, with the latest calls that brought it, and where a person agreed to send. */
export const sessionFlow = z
  .object({
    private: z.array(z.string()).describe('The latest sources of private data; empty: none came in'),
    untrusted: z.array(z.string()).describe('The latest sources of text that somebody else wrote'),
    agreed: z.array(z.string()).describe('The questions about sending that a person said yes to for the session'),
  })
  .meta({ id: 'SessionFlow' });

/** The verdict on a call, and why. Nothing runs. */
export const explanation = z
  .object({
    tool: z.string(),
    args: z.unknown(),
    verdict,
    rule: z.string(),
    reason: z.string(),
    parts: z.array(verdictPart),
    summary: z.string(),
    access: z.array(access),
    preview: z.array(previewBlock),
    flow: sessionFlow,
  })
  .meta({ id: 'Explanation' });
export type ExplanationView = z.infer<typeof explanation>;

export const historyQuery = z.strictObject({
  session: z.string().optional(),
  tool: z.string().optional(),
  agent: z.string().optional(),
  state: z
    .string()
    .optional()
    .describe(`One or several with commas: ${CALL_STATES.join(', ')}`)
    .transform((text) => text?.split(','))
    .pipe(z.array(callState).optional()),
  since: z.coerce.number().optional().describe('Requested at or after, in wall-clock milliseconds'),
  until: z.coerce.number().optional(),
  order: z.enum(['newest', 'oldest']).default('newest'),
  after: z
    .string()
    .regex(/^\d{1,16}$/, '`next` of the page before, as it came')
    .optional()
    .describe('`next` of the page before'),
  limit: z.coerce.number().int().min(1).max(500).default(100),
});

export const callPage = z.object({ items: z.array(call), next: z.string().nullable() }).meta({ id: 'CallPage' });
