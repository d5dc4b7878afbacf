import { z } from 'zod';

export const session = z
  .object({
    id: z.string(),
    title: z.string().nullable(),
    workspace: z.string().nullable().describe('Null for one that a library opened'),
    agent: z.string().nullable(),
    createdAt: z.number(),
    updatedAt: z.number(),
    lastSeq: z.int(),
    running: z.boolean().describe('An agent is at work on it'),
    collects: z.boolean().describe('Its changes are collected for one decision'),
  })
  .meta({ id: 'Session' });
export type SessionView = z.infer<typeof session>;

export const createSession = z
  .strictObject({
    id: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, 'letters, digits, dots, dashes and underscores')
      .optional(),
    title: z.string().max(200).optional(),
    workspace: z.string().optional().describe('An id of /v1/health; left out: the first'),
  })
  .meta({ id: 'CreateSession' });

export const sessionQuery = z.strictObject({
  after: z
    .string()
    .max(300)
    .regex(/^\d{1,16}:./, '`next` of the page before, as it came')
    .optional()
    .describe('`next` of the page before'),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});
export const sessionPage = z
  .object({ items: z.array(session), next: z.string().nullable() })
  .meta({ id: 'SessionPage' });

/** One message of a conversation. Tool calls are calls of the same session and carry their ids. */
export const message = z
  .object({
    id: z.string(),
    role: z.enum(['user', 'assistant', 'notice']),
    text: z.string(),
    at: z.number(),
    seq: z.int(),
    callIds: z.array(z.string()),
    by: z.string().nullable(),
  })
  .meta({ id: 'Message' });
export type MessageView = z.infer<typeof message>;

export const messageList = z.object({ items: z.array(message) }).meta({ id: 'MessageList' });
export const sendMessage = z.strictObject({ text: z.string().min(1).max(200_000) }).meta({ id: 'SendMessage' });
export const accepted = z.object({ accepted: z.literal(true) }).meta({ id: 'Accepted' });

export const startedDemo = z.object({ session: z.string() }).meta({ id: 'StartedDemo' });
