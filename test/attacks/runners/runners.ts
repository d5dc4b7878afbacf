import type { Runners } from '../harness.ts';
import { agentRunner } from './agent-runner.ts';
import { approvalRunner } from './approval-runner.ts';
import { commandsRunner, decisionRunner } from './commands-runner.ts';
import { FILE_TOOLS, fileToolsRunner } from './file-tools-runner.ts';
import { hostMeanwhileRunner, killedRuntimeRunner } from './host-meanwhile-runner.ts';
import { mcpHttpRunner, mcpStdioRunner } from './mcp-runner.ts';
import { recordRunner } from './record-runner.ts';
import { runCodeRunner } from './run-code-runner.ts';
import { configRunner, serverRunner } from './server-runner.ts';
import { tokenLeakRunner } from './token-leak-runner.ts';
import { uiRunner } from './ui-runner.ts';
import { webRunner } from './web-runner.ts';

/** Which part of the product answers for which cases. A part that is new adds its line here; the rest is pending. */
export const runners: Runners = {
  'run:agent': agentRunner,
  'run:run_code': runCodeRunner,
  'http:http': serverRunner,
  'http:ws': serverRunner,
  'http:approval': approvalRunner,
  'run:config': configRunner,
  'fault:config': recordRunner,
  'race:config': recordRunner,
  'run:bash': commandsRunner,
  'race:bash': hostMeanwhileRunner,
  'race:run_code': hostMeanwhileRunner,
  'fault:bash': killedRuntimeRunner,
  'policy:bash': decisionRunner,
  'netstub:web_fetch': webRunner,
  'netstub:web_search': webRunner,
  'run:mcp': mcpStdioRunner,
  'http:mcp': mcpHttpRunner,
  'ui:ui': uiRunner,
  'ui:http': tokenLeakRunner,
  ...Object.fromEntries(
    ['run', 'race', 'fault'].flatMap((mode) => FILE_TOOLS.map((tool) => [`${mode}:${tool}`, fileToolsRunner])),
  ),
};
