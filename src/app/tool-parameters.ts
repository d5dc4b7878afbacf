import type { JsonSchema } from '../kernel/tool/input-schema.ts';
import { builtInTools } from '../tools/index.ts';

/** What a built-in tool takes, without opening anything; undefined for a name that is none of theirs. */
export function toolParameters(name: string): JsonSchema | undefined {
  return builtInTools.find((tool) => tool.name === name)?.input.json;
}
