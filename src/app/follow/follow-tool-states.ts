import type { Ledger } from '../../kernel/call/ledger.ts';
import type { ToolRegistry } from '../../runtime/registry/registry.ts';

/**
 * Switches tools by the states in the store, also when another process changes them. Tools that the configuration
 * disables stay off. Returns a function that stops following.
 */
export async function followToolStates(
  store: Ledger,
  registry: ToolRegistry,
  disabled: readonly string[],
): Promise<() => void> {
  const apply = (tool: string, enabled: boolean) => {
    if (!registry.exists(tool)) return;
    if (enabled && !disabled.includes(tool)) registry.enable(tool);
    else registry.disable(tool);
  };
  const states = new Map<string, boolean>();
  const unfollow = store.follow(
    (event) => {
      if (event.type !== 'tool.switched') return;
      const { data } = event;
      states.set(data.tool, data.enabled);
      apply(data.tool, data.enabled);
    },
    { types: ['tool.switched'] },
  );
  // Only now: a switch that comes meanwhile is heard of, and is newer than what is read.
  for (const [tool, enabled] of await store.toolStates()) if (!states.has(tool)) states.set(tool, enabled);
  const applyAll = () => {
    for (const [tool, enabled] of states) apply(tool, enabled);
    for (const tool of disabled) apply(tool, false);
  };
  applyAll();
  // A tool that a server adds later may have been switched off before.
  const unwatch = registry.onChange(applyAll);
  return () => {
    unwatch();
    unfollow();
  };
}
