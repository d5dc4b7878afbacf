import type { ApprovalRequest, Approver } from '../kernel/ports.ts';
import type { MaybePromise } from '../kernel/result.ts';

/** Refuses at once where no person can be asked, and names the rule that would allow the call. */
export function createHeadless(
  rulesFor: (request: ApprovalRequest) => MaybePromise<readonly string[] | null>,
): Approver {
  return {
    async ask(request) {
      const rules = await rulesFor(request);
      const next =
        rules === null
          ? 'No rule is narrow enough to allow it: run it where a person can be asked.'
          : `To allow it, add ${rules.join(' and ')} to "allow" in the configuration.`;
      return { approved: false, message: `no person can approve here. ${request.reason} ${next}` };
    },
  };
}
