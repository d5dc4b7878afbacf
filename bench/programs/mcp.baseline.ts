// The smallest server that reads and records: the same SDK, a read of the file, and one row durable before the answer.
// No policy, no validation, no trace of the start, no hash chain.
import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const [root = '', file = ''] = process.argv.slice(2);
const db = new DatabaseSync(file);
db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE calls (args TEXT, outcome TEXT)');
const insert = db.prepare('INSERT INTO calls VALUES (?, ?)');
let waiting: { args: string; outcome: string; kept(): void }[] = [];

serveStdio(() => {
  const server = new Server({ name: 'bare', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/call', async ({ params }) => {
    const path = await realpath(join(root, String(params.arguments?.path)));
    const text = await readFile(path, 'utf8');
    const answer = { content: [{ type: 'text' as const, text }], structuredContent: { content: text } };
    await recorded(JSON.stringify(params), JSON.stringify(answer));
    return answer;
  });
  return server;
});

/** All that wait share a commit. */
function recorded(args: string, outcome: string): Promise<void> {
  return new Promise((kept) => {
    if (waiting.push({ args, outcome, kept }) === 1) setImmediate(() => setImmediate(commit));
  });
}

function commit(): void {
  const group = waiting;
  waiting = [];
  db.exec('BEGIN IMMEDIATE');
  for (const { args, outcome } of group) insert.run(args, outcome);
  db.exec('COMMIT');
  for (const { kept } of group) kept();
}
