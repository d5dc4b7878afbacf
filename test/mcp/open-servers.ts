import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { openRemoteTools, type RemoteTools } from '../../src/app/mcp/remote-tools.ts';
import type { ApprovalRequest, Logger } from '../../src/kernel/ports.ts';
import { createFilePolicy } from '../../src/kernel/world/file-policy.ts';
import type { ServerConfig } from '../../src/mcp/client/server-config.ts';
import { createPolicy } from '../../src/policy/create-policy.ts';
import { parseRules } from '../../src/policy/rules/parse-rules.ts';
import { createToolwright, type Toolwright } from '../../src/runtime/create-toolwright.ts';

export interface RemoteOptions {
  readonly stateDir: string;
  readonly allow?: readonly string[];
  /** The person's answer to every approval request. */
  readonly answer?: boolean;
  readonly log?: Logger;
  readonly patienceMs?: number;
}

export type WithServers = Toolwright & { remote: RemoteTools; asked: ApprovalRequest[] };

/** Opens a toolwright with the tools of these servers; the caller closes `remote`. */
export async function openServers(
  servers: Record<string, ServerConfig>,
  { stateDir, allow = [], answer = false, log = pino({ level: 'silent' }), patienceMs = 20_000 }: RemoteOptions,
): Promise<WithServers> {
  const rules = parseRules({ allow });
  if (!rules.ok) throw new Error(rules.error.message);
  const asked: ApprovalRequest[] = [];
  const toolwright = createToolwright({
    policy: createPolicy({ mode: 'ask', rules: rules.value, files: createFilePolicy(), home: '/nonexistent' }),
    approver: (request) => {
      asked.push(request);
      return { approved: answer };
    },
    timeout: 20,
    maxOutputSize: 2000,
  });
  const { registry } = toolwright;
  const remote = await openRemoteTools(servers, { registry, stateDir, version: '0.0.0', log, patienceMs });
  return { ...toolwright, remote, asked };
}

/** A server that says exactly this, whatever the protocol thinks of it. `result` is JavaScript over `params`. */
export function rawServer(
  folder: string,
  { tools, result = "({ content: [{ type: 'text', text: 'done' }] })" }: { tools: readonly unknown[]; result?: string },
): ServerConfig {
  const [program, listed] = [join(folder, 'raw-server.mjs'), join(folder, 'raw-tools.json')];
  writeFileSync(listed, JSON.stringify(tools));
  writeFileSync(
    program,
    `import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'raw', version: '1' } }),
  'tools/list': () => ({ tools: JSON.parse(readFileSync(${JSON.stringify(listed)}, 'utf8')) }),
  'tools/call': (params) => ${result},
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method]?.(params) ?? {} }) + '\\n');
}).on('close', () => process.exit());
`,
  );
  return { command: process.execPath, args: [program] };
}
