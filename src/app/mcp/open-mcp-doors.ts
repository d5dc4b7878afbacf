import { messageOf } from '../../kernel/error.ts';
import type { Logger } from '../../kernel/ports.ts';
import { Door } from '../../mcp/server/door.ts';
import { createFileNotices } from '../follow/file-notices.ts';
import type { App } from '../open-app.ts';
import type { Host } from '../open-host.ts';
import { workspaceResources } from './workspace-resources.ts';

/** Opens the MCP doors of a host by workspace, the default one first. */
export function openMcpDoors(host: Host): Map<string, Door> {
  return new Map([...host.apps].map(([id, app]) => [id, openMcpDoor(host, id, app)]));
}

function openMcpDoor(host: Host, workspace: string, app: App): Door {
  const { executor, context, loaded } = app;
  tellProposals(host.log, Object.keys(loaded.proposedServers));
  return new Door({
    executor,
    context,
    approver: host.mcpApprover,
    version: host.version,
    instructions: INSTRUCTIONS,
    resources: workspaceResources({ blobs: host.blobs, ...createFileNotices(app, host.log) }),
    onSession(session, client) {
      const data = { workspace, title: `MCP: ${client}`, agent: client, by: 'mcp' };
      const event = { type: 'session.created', callId: null, at: Date.now(), data } as const;
      Promise.resolve(host.ledger.note(session, event)).catch((error) =>
        host.log.error({ session }, `A session could not be recorded: ${messageOf(error)}`),
      );
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
