// The measurements of bench/stage.ts as whoever runs this, written to the file that is named.
import { writeFileSync } from 'node:fs';
import { measureStages } from '../stage.ts';

const [, , results = ''] = process.argv;
writeFileSync(results, JSON.stringify(await measureStages()));
process.exit(0);
