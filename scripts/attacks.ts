// Tries the attack catalogue against the product: `npm run attacks -- [--category X] [--id BEGINNING] [--file PATH] [--json]`.
// Exits with 1 when a case failed; pending and unchecked ones are counted apart.
import { closeBrowser } from '../test/app/browser.ts';
import { readCatalogue } from '../test/attacks/attack.ts';
import { runAttacks } from '../test/attacks/harness.ts';
import { runners } from '../test/attacks/runners/runners.ts';
import { readOptions } from './options.ts';

const { values } = readOptions({
  options: {
    category: { type: 'string' },
    file: { type: 'string' },
    id: { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
  },
});
const own = new URL('../test/attacks/catalogue.jsonl', import.meta.url).pathname;
const attacks = readCatalogue(values.file ?? own).filter(
  ({ category, id }) => (values.category === undefined || category === values.category) && id.startsWith(values.id),
);
if (attacks.length === 0) {
  console.error('There is no such case: check --category, --id and --file.');
  process.exit(2);
}

const report = await runAttacks(attacks, runners, ({ id, passed, outcome, reason }) => {
  if (!values.json && outcome !== 'pending') console.log(`${passed ? 'ok  ' : 'FAIL'} ${id} ${outcome} ${reason}`);
});
const { passed, failed, pending, unchecked } = report;
if (values.json) console.log(JSON.stringify(report));
else
  console.log(`${passed} passed, ${failed} failed, ${unchecked} unchecked, ${pending} pending, of ${attacks.length}.`);
await closeBrowser();
// Calls that were left waiting for a person have a timer of a day each.
// A pipe may not have taken the last lines yet.
process.stdout.write('', () => process.exit(failed > 0 ? 1 : 0));
