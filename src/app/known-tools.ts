import type { KnownTools } from '../policy/rules/parse-rules.ts';
import type { ToolRegistry } from '../runtime/registry/registry.ts';

/** The tools that a rule may speak of, by name or alias, with what its pattern means for them. */
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
