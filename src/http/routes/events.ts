import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { maySee } from '../credentials.ts';
import type { ApiContext, Handlers } from '../handler.ts';
import { refuse } from '../problem.ts';

export function eventRoutes({ streams, open, backend }: ApiContext): Pick<Handlers, 'streamEvents'> {
  const { ledger } = backend;
  return {
    async streamEvents({ c, who, tokenHash, query }) {
      const session = query.session ?? null;
      if (who.sessions !== null && (session === null || !maySee(who, session))) {
        return refuse('FORBIDDEN', `Your token is limited to ${who.sessions.join(', ')}: name one of them as session.`);
      }
      const last = c.req.header('last-event-id') ?? '';
      if (!/^\d{0,15}$/.test(last)) {
        return refuse('INVALID_INPUT', 'Last-Event-ID must be the id of an event of this stream.');
      }
      if (!streams.hasRoom(tokenHash)) {
        return refuse('TOO_MANY_REQUESTS', 'This token has too many streams open: close some first.');
      }
      const after = last === '' ? (query.after ?? null) : Number(last);
      const workspace = session === null ? undefined : (await ledger.session(session))?.workspace;
      const { outgoing } = c.env;
      if (open.wasCut(outgoing)) return refuse('UNAUTHENTICATED', 'The token was revoked.');
      outgoing.writeHead(200, {
        'Content-Type': 'text/event-stream; charset=utf-8',
        'Cache-Control': 'no-store',
        'X-Accel-Buffering': 'no',
      });
      outgoing.flushHeaders();
      await streams.open(outgoing, { session, after, tokenHash, workspace: workspace ?? undefined });
      return RESPONSE_ALREADY_SENT;
    },
  };
}
