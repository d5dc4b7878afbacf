import { z } from 'zod';

export const ROLES = ['viewer', 'agent', 'approver', 'admin'] as const;
/** Each role includes those before it. An agent runs tools; approving needs approver or above. */
export const role = z.enum(ROLES).meta({ id: 'Role' });
export type Role = z.infer<typeof role>;

export const MODES = ['plan', 'ask', 'auto', 'strict'] as const;
export const mode = z.enum(MODES).meta({ id: 'Mode' });
export type ModeView = z.infer<typeof mode>;
export const switchMode = z.strictObject({ mode }).meta({ id: 'SwitchMode' });

export const workspace = z
  .object({
    id: z.string(),
    name: z.string(),
    sandbox: z.string().describe('bubblewrap, seatbelt or none'),
    trouble: z.string().nullable().describe('Why commands do not run in it, or run unprotected, and what to do'),
  })
  .meta({ id: 'Workspace' });

export const health = z
  .object({
    status: z.enum(['ok', 'stopping']),
    version: z.string(),
    you: z.object({ name: z.string(), role }),
    mode,
    workspaces: z.array(workspace),
    model: z.string().nullable().describe('Null: manual mode, a person drives the tools'),
    pendingApprovals: z.int(),
  })
  .meta({ id: 'Health' });
export type Health = z.infer<typeof health>;

export const newToken = z.object({ token: z.string() }).meta({ id: 'NewToken' });
