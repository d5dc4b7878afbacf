/**
 * A process with an executor on a shared state directory, or on a database if one is named, controlled by messages. The
 * tool `effect` leaves a trace in `effects.log` before it does anything else, so that a second run of a call shows.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Effect } from '../../src/kernel/call/call.ts';
import { ok } from '../../src/kernel/result.ts';
import { defineTool } from '../../src/kernel/tool/tool.ts';
import { createToolwright } from '../../src/runtime/create-toolwright.ts';
import { openPostgresStore } from '../../src/storage/postgres/open.ts';
import { openSqliteStore } from '../../src/storage/sqlite/open.ts';

export type Command =
  | { do: 'call'; tool: Effect; name: string; ms: number; key?: string; wait: boolean }
  | { do: 'recover' }
  | { do: 'resume' }
  | { do: 'follow' }
  | { do: 'close' };

export type Report =
  | { said: 'ready'; node: string }
  | { said: 'done'; text?: string; events?: string[]; count?: number }
  | { said: 'heard'; type: string; afterMs: number };

const [folder = '', databaseUrl] = process.argv.slice(2);
const opened = await (databaseUrl === undefined ? openSqliteStore(folder) : openPostgresStore(databaseUrl));
if (!opened.ok) throw new Error(opened.error.message);
const { store, blobs } = opened.value;

const tools = (['pure', 'idempotent', 'once'] as const).map((effect) =>
  defineTool({
    name: effect,
    description: 'Leaves a trace, then takes its time.',
    effect,
    input: z.object({ name: z.string(), ms: z.number() }),
    access: () => [],
    async run({ name, ms }) {
      appendFileSync(join(folder, 'effects.log'), `${name}\n`);
      await delay(ms);
      return ok(`${name} by ${store.node.id}`);
    },
  }),
);
const app = createToolwright({ tools, store, blobs, sessionId: 's1' });

process.on('message', (command: Command) => void obey(command));
process.on('disconnect', () => process.exit());
report({ said: 'ready', node: store.node.id });

async function obey(command: Command): Promise<void> {
  switch (command.do) {
    case 'call': {
      const { tool, name, ms, key, wait } = command;
      const result = app.call(tool, { name, ms }, key === undefined ? {} : { key });
      return report({ said: 'done', ...(wait && { text: (await result).text }) });
    }
    case 'recover': {
      const events = await store.recover();
      return report({ said: 'done', events: events.map(({ type }) => type) });
    }
    case 'resume': {
      const results = await app.executor.resume(() => app.context);
      return report({ said: 'done', count: results.length });
    }
    case 'follow':
      store.follow(({ type, at }) => report({ said: 'heard', type, afterMs: Date.now() - at }));
      return report({ said: 'done' });
    case 'close':
      await store.close();
      process.exit(0);
  }
}

function report(message: Report): void {
  process.send?.(message);
}
