import type { JsonSchema } from '../../kernel/tool/input-schema.ts';
import type { KnownTools } from '../../policy/rules/parse-rules.ts';
import type { ToolRegistry } from '../../runtime/registry/registry.ts';
import { builtInTools } from '../../tools/index.ts';

/** The tools that a rule may name, by name or alias, with the meaning of its pattern. */
export function knownTools(
  registries: readonly ToolRegistry[],
  mayBeNamed: (name: string) => boolean = () => false,
): KnownTools {
  return {
    has: (name) => registries.some((registry) => registry.exists(name)) || mayBeNamed(name),
    tool(name) {
      for (const registry of registries) {
        const found = registry.find(name);
        if (found.ok) return found.value;
      }
      return undefined;
    },
  };
}

/** Returns the parameters of a built-in tool without opening anything; undefined for another name. */
export function toolParameters(name: string): JsonSchema | undefined {
  return builtInTools.find((tool) => tool.name === name)?.input.json;
}
