import { proposeRules } from '../../app/approvals/propose-rule.ts';
import type { App } from '../../app/open-app.ts';
import type { Approver } from '../../kernel/ports.ts';
import type { Words } from '../text/words.ts';

/** Refuses every question, since nobody can be asked, and says what would have allowed the call. */
export function createUnattended(words: Words, app: () => App | undefined): Approver {
  return {
    async ask(request) {
      const proposed = await proposeRules(app(), request);
      const rules = proposed.ok ? proposed.value.rules : [];
      const commands = rules.map((rule) => `toolwright rules allow ${inShell(rule)}`);
      return { approved: false, message: words.nobodyToAsk(commands.join(' && ')) };
    },
  };
}

function inShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
