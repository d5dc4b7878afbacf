import type { Logger } from '../kernel/ports.ts';
import { ok, type Result } from '../kernel/result.ts';
import { createMcpApprover, type McpApproverOptions } from '../mcp/server/approver.ts';
import { Door } from '../mcp/server/door.ts';
import { type App, type AppOptions, openApp } from './open-app.ts';
import { VERSION } from './version.ts';
import { workspaceResources } from './workspace-resources.ts';

export interface McpApp {
  readonly app: App;
  readonly door: Door;
  close(): Promise<void>;
}

/** A workspace with an MCP door: what `toolwright mcp` serves. */
export async function openMcp(options: Omit<AppOptions, 'approver'> & { logger: Logger }): Promise<Result<McpApp>> {
  let asking: McpApproverOptions = { way: 'nobody' };
  const approver = createMcpApprover(() => asking);
  const opened = await openApp({ ...options, approver });
  if (!opened.ok) return opened;
  const app = opened.value;
  const { executor, context, blobs, loaded } = app;
  asking = { way: loaded.config.mcpApprovals };
  tellProposals(options.logger, Object.keys(loaded.proposedServers));
  const door = new Door({
    executor,
    context,
    approver,
    version: VERSION,
    instructions: INSTRUCTIONS,
    resources: workspaceResources({ executor, context, blobs }),
  });
  return ok({
    app,
    door,
    async close() {
      door.close();
      await app.close();
    },
  });
}

const INSTRUCTIONS =
  'Tools for the files and commands of one workspace; paths are relative to it. Every call is judged by its rules, some ' +
  'are asked about first, and all are recorded. A refusal names its reason: do not try the same call again unchanged.';

function tellProposals(log: Logger, names: readonly string[]): void {
  if (names.length === 0) return;
  const next = 'They were not started. To use one, add it to mcpServers in your own configuration.';
  log.warn({}, `The workspace proposes MCP servers: ${names.join(', ')}. ${next}`);
}
