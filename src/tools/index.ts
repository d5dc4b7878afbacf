import type { Tool } from '../kernel/tool.ts';
import { readOutput } from './output/read-output.ts';

/** Every built-in tool: a tool is one file and one line here. */
export const builtInTools: readonly Tool[] = [readOutput];
