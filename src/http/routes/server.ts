import type { Ledger } from '../../kernel/call/ledger.ts';
import type { Health } from '../../protocol/health.ts';
import type { WorkspaceBackend } from '../backend.ts';
import { type Credential, maySee } from '../credentials.ts';
import type { ApiContext } from '../handler.ts';
import { type Handlers, json } from '../handler.ts';
import { openApiDocument } from '../openapi.ts';
import { failureResponse, refuse } from '../problem.ts';
import { workspacesFor } from '../session-lookup.ts';

export function serverRoutes({
  backend,
  credentials,
  isStopping,
}: ApiContext): Pick<
  Handlers,
  'getHealth' | 'getOpenApi' | 'rotateToken' | 'switchMode' | 'listModels' | 'chooseModel' | 'saveModelKey'
> {
  const { ledger, settings, runner, version } = backend;
  const document = openApiDocument(version);

  return {
    async getHealth({ who }) {
      const theirs = await workspacesFor(backend, who);
      const health: Health = {
        status: isStopping() ? 'stopping' : 'ok',
        version,
        you: { name: who.name, role: who.role },
        mode: settings.mode(),
        workspaces: [...theirs.values()].map(toWorkspace),
        model: runner.models().current?.model ?? null,
        pendingApprovals: await countPending(ledger, who),
      };
      return json(health);
    },

    getOpenApi: () => json(document),

    async switchMode({ body, who }) {
      const switched = await settings.switchMode(body.mode, who.name);
      return switched.ok ? json({ mode: settings.mode() }) : failureResponse(switched.error);
    },

    listModels: () => json(runner.models()),

    async chooseModel({ body, who }) {
      const chosen = await runner.choose(body, who.name);
      return chosen.ok ? json(runner.models()) : failureResponse(chosen.error);
    },

    async saveModelKey({ body, who }) {
      const saved = await runner.saveKey(body);
      if (!saved.ok) return failureResponse(saved.error);
      // The rest of the address may contain credentials.
      const whose = body.baseUrl === undefined ? body.provider : new URL(body.baseUrl).origin;
      backend.log.info({ by: who.name }, `The key for ${whose} was ${body.key === null ? 'forgotten' : 'saved'}.`);
      return json(runner.models());
    },

    async rotateToken() {
      const token = await credentials.rotate();
      if (token !== null) return json({ token });
      return refuse('NOT_CONFIGURED', "The server's token was given to it: change it there and start it again.");
    },
  };
}

/** Page size: every question contains its full arguments. */
const PAGE = 100;

async function countPending(ledger: Ledger, who: Credential): Promise<number> {
  const state = 'pending';
  let count = 0;
  for (let page = await ledger.approvals({ state, limit: PAGE }); ; ) {
    count += page.filter(({ session }) => maySee(who, session)).length;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return count;
    page = await ledger.approvals({ state, limit: PAGE, after: last.id });
  }
}

function toWorkspace({ id, name, sandbox, sandboxTrouble }: WorkspaceBackend): Health['workspaces'][number] {
  return { id, name, sandbox, trouble: sandboxTrouble() ?? null };
}
