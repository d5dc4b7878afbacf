import type { RuleProposal } from '../approval/answers.ts';
import type { Access } from '../kernel/access.ts';

/** What a proposal is made for. */
export interface Proposable {
  readonly session: string;
  readonly tool: string;
  readonly args: unknown;
  readonly shown: { readonly access: readonly Access[] } | null;
}

/** The narrowest rule that covers a call; null when none is safe enough. */
export async function proposeFor(_call: Proposable): Promise<RuleProposal | null> {
  return null;
}
