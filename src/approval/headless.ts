import type { ApprovalRequest, Approver } from '../kernel/ports.ts';
import type { MaybePromise } from '../kernel/result.ts';

/** Where no person can be asked: a no at once, with the rule that would have allowed it. */
export function createHeadless(
  rulesFor: (request: ApprovalRequest) => MaybePromise<readonly string[] | null>,
): Approver {
  return {
    async ask(request) {
      const rules = await rulesFor(request);
      const next =
        rules === null
          ? 'No rule is narrow enough to allow it: run it where a person can be asked.'
          : `To allow it, add ${rules.join(' and ')} to «allow» in the configuration.`;
      return { approved: false, message: `nobody can be asked here. ${request.reason} ${next}` };
    },
  };
}
