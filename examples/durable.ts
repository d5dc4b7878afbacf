// A record that outlives the program: run it twice, and the second time it finds the first one's call.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createToolwright, openStore } from 'toolwright';
import { countWords } from './tools/count-words.ts';

const directory = process.argv[2] ?? mkdtempSync(join(tmpdir(), 'toolwright-example-'));
const opened = await openStore({ directory });
if (!opened.ok) throw new Error(opened.error.message);
const { store, blobs } = opened.value;

const { call, executor } = createToolwright({ tools: [countWords], store, blobs, sessionId: 'example' });
await call('count_words', { text: 'nothing acknowledged is lost' });
const { items } = await executor.history();
console.log(`${items.length} calls recorded in ${directory}; the last one: ${items.at(-1)?.outcome?.text}`);
const { problems } = await store.verify();
console.log(problems.length === 0 ? 'The log verifies.' : problems.join('\n'));
await store.close();
