import type { Engine } from '../engine.ts';
import { rows } from '../sql/statement.ts';
import { toLogEvent } from './event-rows.ts';

const PAGE = 200;

/** Yields every event as a line of JSON with its hash, reading a page at a time, so the log may be of any size. */
export async function* exportLines(engine: Engine, { session }: { session?: string }): AsyncGenerator<string> {
  for (let after = 0; ; ) {
    const { eventsAfter, logAfter } = engine.sql;
    const work = () =>
      session === undefined
        ? rows(logAfter, { after, limit: PAGE })
        : rows(eventsAfter, { session, after, limit: PAGE });
    const page = await engine.read(work);
    for (const row of page) {
      const event = await toLogEvent(engine.blobs, row);
      yield JSON.stringify({ ...event, version: row.version, hash: row.hash });
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = session === undefined ? last.pos : last.seq;
  }
}
