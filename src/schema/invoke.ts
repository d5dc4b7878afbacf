import type { ToolResult } from '../kernel/tool-result.ts';

/** What runs a tool that was given to a framework: our executor, so that policy, approval and record apply there too. */
export type Invoke = (args: unknown, signal?: AbortSignal) => Promise<ToolResult>;
