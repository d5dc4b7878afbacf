import type { Toolset } from './toolsets.ts';

/** The tool names of each specification. Without a toolset, every tool has its own name. */
export const builtInToolsets: readonly Toolset[] = [
  {
    name: 'essentials',
    tools: { bash: 'bash', read_file: 'read_file', write_file: 'write_file', web_fetch: 'web_fetch' },
  },
  {
    name: 'codebase',
    tools: {
      read_tool: 'read_file',
      glob_tool: 'glob',
      grep_tool: 'grep',
      bash_tool: 'bash',
      websearch_tool: 'web_search',
      webfetch_tool: 'web_fetch',
    },
  },
  { name: 'workspace', tools: { read_file: 'read_file', write_file: 'write_file', execute_command: 'bash' } },
  {
    name: 'standard',
    tools: {
      list_directory: 'list_directory',
      read_file: 'read_file',
      write_file: 'write_file',
      delete_file: 'delete_file',
      move_file: 'move_file',
      run_code: 'run_code',
      web_fetch: 'web_fetch',
      web_search: 'web_search',
    },
  },
];
