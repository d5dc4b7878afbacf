import { z } from 'zod';
import { access, verdictPart } from './access.ts';
import { args } from './calls.ts';
import { previewBlock } from './preview.ts';

export const APPROVAL_STATES = ['pending', 'approved', 'denied', 'expired', 'superseded'] as const;
export const approvalState = z.enum(APPROVAL_STATES).meta({ id: 'ApprovalState' });

/** A request to approve exactly these arguments. */
export const approval = z
  .object({
    id: z.string(),
    stepId: z.string().describe('The call that waits'),
    session: z.string(),
    tool: z.string(),
    args: z.unknown(),
    reason: z.string(),
    summary: z.string(),
    state: approvalState,
    digest: z.string().describe('Binds the answer to tool, arguments, session, workspace and the files shown'),
    requestedAt: z.number(),
    expiresAt: z.number().nullable(),
    decidedAt: z.number().nullable(),
    decidedBy: z.string().nullable(),
    message: z.string().nullable(),
    changed: z.array(z.string()).describe('Arguments that the person changed'),
  })
  .meta({ id: 'Approval' });
export type ApprovalView = z.infer<typeof approval>;

/** `always` has the narrowest rules that cover this call; null when none is safe enough to propose. */
export const approvalDetail = approval
  .extend({
    access: z.array(access),
    verdicts: z.array(verdictPart).describe('Everything that was judged, and what asked'),
    preview: z.array(previewBlock),
    draft: z
      .object({ path: z.string(), before: z.string(), after: z.string() })
      .nullable()
      .describe('The text file that the call would leave, where a person may edit it'),
    always: z
      .object({
        rule: z.string().describe('One rule a line'),
        rules: z.array(z.string()),
        covers: z.array(z.string()).describe('What each rule lets through, in words'),
        workspace: z.string().describe('The only one they would hold in'),
      })
      .nullable()
      .describe('The rules that "always" would save'),
    whyNoRule: z.string().nullable().describe('Why "always" proposes nothing'),
  })
  .meta({ id: 'ApprovalDetail' });
export type ApprovalDetail = z.infer<typeof approvalDetail>;

export const approvalQuery = z.strictObject({
  state: approvalState.optional().describe('Left out: all'),
  session: z.string().optional(),
  after: z.string().max(200).optional().describe('`next` of the page before'),
  limit: z.coerce.number().int().min(1).max(500).default(200),
});
export const approvalPage = z
  .object({ items: z.array(approval), next: z.string().nullable() })
  .meta({ id: 'ApprovalPage' });

export const approve = z
  .strictObject({
    modifiedArgs: args.optional().describe('Replaces the arguments; validated, judged and previewed again'),
    always: z
      .union([z.literal(true), z.string().min(1).max(2000)])
      .optional()
      .describe(
        'Also save a rule: true for the proposed one; or the text to save, one rule a line, as it was shown or edited. ' +
          'An edited one is refused if it answers nothing here, or would let through what the proposed one must not',
      ),
    digest: z
      .string()
      .max(200)
      .optional()
      .describe(
        'The digest that was shown, refused with CONFLICT if it is another; with edited arguments that of their review',
      ),
  })
  .meta({ id: 'Approve' });
export type Approve = z.infer<typeof approve>;

export const deny = z
  .strictObject({ message: z.string().max(4000).optional().describe('Words for the model') })
  .meta({ id: 'Deny' });

export const reviewEdit = z
  .union(
    [
      z.strictObject({ modifiedArgs: args }),
      z.strictObject({
        text: z.string().describe('The edited text of the draft; the answer has the arguments that give it'),
      }),
    ],
    'send modifiedArgs, an object, or text, the edited text of the draft',
  )
  .meta({ id: 'ReviewEdit' });

/** Effect of the edited arguments, under the same checks as approving them. */
export const editReview = z
  .object({
    args: z.unknown(),
    changed: z.array(z.string()),
    summary: z.string(),
    preview: z.array(previewBlock),
    digest: z.string().describe('Approve with it: what was previewed is what runs'),
  })
  .meta({ id: 'EditReview' });
