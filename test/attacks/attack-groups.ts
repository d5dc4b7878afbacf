import type { Attack } from './attack.ts';
import { FILE_TOOLS } from './runners/file-tools-runner.ts';

const COMMANDS = ['2-command', '2-dangerous'];
const FILES = ['1-path', '2-secrets', '6-data'];

/** The cases that each test file runs, so that the files run in parallel; together they are the whole catalogue. */
export const attackGroups = {
  agent: ({ category }) => category === '7-agent',
  commands: ({ category, tool }) =>
    COMMANDS.includes(category) || (['bash', 'run_code'].includes(tool) && category !== '5-sandbox'),
  fileTools: ({ category, tool }) => FILES.includes(category) && FILE_TOOLS.includes(tool),
  mcp: ({ category }) => category === '4-mcp',
  record: ({ mode, tool, class: name }) => tool === 'config' && mode !== 'run' && name !== 'data.session-log-torn',
  sandbox: ({ category }) => category === '5-sandbox',
  server: ({ category }) => ['4-server', '4-approval'].includes(category),
  ui: ({ mode, tool }) => mode === 'ui' && tool === 'ui',
  web: ({ mode }) => mode === 'netstub',
} satisfies Record<string, (attack: Attack) => boolean>;
