import type { Backend } from '../backend.ts';
import { type Handlers, json } from '../handler.ts';
import { failureResponse, refuse } from '../problem.ts';
import { workspacesFor } from '../session-lookup.ts';

/** Lets a person free paths that are kept as secrets. */
export function pathRoutes(backend: Backend): Pick<Handlers, 'listPathDecisions' | 'decidePath' | 'takePathBack'> {
  const { settings } = backend;
  return {
    async listPathDecisions({ who }) {
      const theirs = await workspacesFor(backend, who);
      const decisions = await settings.pathDecisions();
      return json({ items: decisions.filter(({ workspace }) => theirs.has(workspace)) });
    },

    async decidePath({ body, who }) {
      const decided = await settings.decidePath(body, who.name);
      return decided.ok ? json(decided.value, 201) : failureResponse(decided.error);
    },

    async takePathBack({ params, who }) {
      const taken = await settings.takePathBack(params.id ?? '', who.name);
      return taken ? new Response(null, { status: 204 }) : refuse('NOT_FOUND', 'Unknown decision.');
    },
  };
}
