import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Tool as ListedTool } from '@modelcontextprotocol/client';
import { messageOf } from '../../kernel/error.ts';
import type { Logger } from '../../kernel/ports.ts';
import type { Tool } from '../../kernel/tool/tool.ts';
import { type AnswerForm, RemoteServer } from '../../mcp/client/remote-server.ts';
import { remoteTool } from '../../mcp/client/remote-tool.ts';
import type { ServerConfig } from '../../mcp/client/server-config.ts';
import { fingerprintOf, openToolPins } from '../../mcp/client/tool-pins.ts';
import type { ToolRegistry } from '../../runtime/registry/registry.ts';
import { foreignInput } from '../../schema/foreign-input.ts';
import { inTime } from '../../schema/run-in-time.ts';

export interface RemoteTools {
  readonly servers: readonly RemoteServer[];
  close(): Promise<void>;
}

export interface RemoteToolsParts {
  readonly registry: ToolRegistry;
  readonly stateDir: string;
  readonly version: string;
  readonly log: Logger;
  /** How long to wait for servers at the start; tools that come later are registered then. */
  readonly patienceMs?: number;
  /** Left out: servers are told that forms are not supported. */
  readonly answerForm?: AnswerForm;
}

const PATIENCE_MS = 2000;

/** Connects the configured servers and keeps their tools in the registry as they come, change and go. */
export async function openRemoteTools(
  configs: Readonly<Record<string, ServerConfig>>,
  { registry, stateDir, version, log, answerForm, patienceMs = PATIENCE_MS }: RemoteToolsParts,
): Promise<RemoteTools> {
  const pins = openToolPins(join(stateDir, 'mcp-tools.json'), log);
  const registered = new Map<string, Set<string>>();
  const servers = Object.entries(configs).map(([name, config]) => {
    const server: RemoteServer = new RemoteServer(name, config, {
      version,
      log,
      inTime,
      onTools: (listed) => update(server, listed),
      ...(answerForm !== undefined && { answerForm }),
    });
    return server;
  });
  await Promise.race([
    Promise.all(servers.map((server) => server.open())),
    delay(patienceMs, undefined, { ref: false }),
  ]);
  for (const { name, state } of servers) {
    if (state === 'starting')
      log.warn({ server: name }, `MCP server ${name} has not answered yet: its tools will be added later.`);
  }
  return {
    servers,
    close: async () => void (await Promise.all(servers.map((server) => server.close()))),
  };

  function update(server: RemoteServer, listed: readonly ListedTool[]): void {
    // Adding a server approves its tools as they are then; later changes need approval.
    if (pins.known(server.name) === undefined) {
      pins.keep(
        server.name,
        listed.map((tool) => [tool.name, fingerprintOf(tool)]),
      );
    }
    const before = registered.get(server.name) ?? new Set();
    const now = new Set<string>();
    for (const tool of listed.flatMap((each) => converted(server, each))) {
      if (registry.exists(tool.name) && !before.has(tool.name)) {
        log.warn({ server: server.name }, `A tool ${tool.name} already exists: that of ${server.name} is left out.`);
        continue;
      }
      registry.register(tool, { replace: true, source: `mcp:${server.name}` });
      now.add(tool.name);
    }
    for (const gone of before) if (!now.has(gone)) registry.deregister(gone);
    registered.set(server.name, now);
  }

  function converted(server: RemoteServer, listed: ListedTool): Tool[] {
    try {
      return [remoteTool(listed, { server, pins, toInput: foreignInput })];
    } catch (error) {
      log.warn({ server: server.name }, `${listed.name} of ${server.name} cannot be offered: ${messageOf(error)}`);
      return [];
    }
  }
}
