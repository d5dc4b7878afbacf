import type { Settings } from '../../http/backend.ts';
import type { Ledger } from '../../kernel/call/ledger.ts';
import type { Failure } from '../../kernel/error.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { type Config, SETTINGS } from '../config/settings.ts';
import type { App } from '../open-app.ts';
import { decidePath, listDecisions, takeBack } from './decide-paths.ts';
import { listRules, removeRule, saveRuleIn } from './manage-rules.ts';

/** Changes are recorded with their author and apply in every process; in this one when the promise has resolved. */
export function createSettings(apps: ReadonlyMap<string, App>, ledger: Ledger): Settings {
  const [first, ...others] = apps.values();
  if (first === undefined) throw new Error('a host has at least one workspace');
  return {
    mode: () => first.rules.mode(),

    async switchMode(mode, by) {
      const bound = boundMode(first, mode);
      if (bound !== mode) {
        return fail(
          'CONFLICT',
          `The workspace's own .toolwright/config.json keeps it in mode ${bound}: change it there.`,
        );
      }
      await ledger.record({ type: 'mode.switched', at: Date.now(), data: { mode, by } });
      for (const app of apps.values()) {
        const switched = await app.rules.switchMode(boundMode(app, mode));
        if (!switched.ok) return switched;
      }
      return ok(undefined);
    },

    rules: () => listRules([first, ...others]),

    async saveRule({ rule, verdict, workspace = null }, by) {
      if (workspace !== null && !apps.has(workspace)) return unknownWorkspace(apps, workspace);
      const saved = await saveRuleIn([first, ...others], { rule, verdict, workspace }, by);
      if (saved.ok) await reloadRules(apps);
      return saved;
    },

    async removeRule(id, by) {
      const removed = await removeRule(first, id, by);
      if (removed.ok) await reloadRules(apps);
      return removed.ok;
    },

    pathDecisions: () => listDecisions([first, ...others]),

    async decidePath({ workspace, ...decision }, by) {
      const app = workspace === undefined ? first : apps.get(workspace);
      return app === undefined ? unknownWorkspace(apps, workspace) : decidePath(app, decision, by);
    },

    async takePathBack(id, by) {
      const decision = (await listDecisions([first, ...others])).find((each) => each.id === id);
      const app = apps.get(decision?.workspace ?? '');
      return app !== undefined && (await takeBack(app, id, by)).ok;
    },

    async switchTool(tool, enabled, by) {
      const off = enabled ? disabledByConfig(first, tool) : undefined;
      if (off !== undefined) return { ok: false, error: off };
      await ledger.record({ type: 'tool.switched', at: Date.now(), data: { tool, enabled, by } });
      for (const { registry } of apps.values()) {
        if (enabled) registry.enable(tool);
        else registry.disable(tool);
      }
      return ok(undefined);
    },
  };
}

function unknownWorkspace(apps: ReadonlyMap<string, App>, workspace = ''): Result<never> {
  const known = [...apps.keys()].join(', ');
  return fail('INVALID_INPUT', `Workspace ${workspace} is not open here: name one of ${known}.`);
}

/** The mode of the workspace file yields only to a tighter one. Neither plan nor strict is tighter than the other. */
function boundMode({ loaded: { workspaceMode } }: App, wanted: Config['mode']): Config['mode'] {
  if (workspaceMode === null) return wanted;
  return 'value' in SETTINGS.mode.tighten(workspaceMode, wanted) ? wanted : workspaceMode;
}

export async function reloadRules(apps: ReadonlyMap<string, App>): Promise<void> {
  await Promise.all([...apps.values()].map((app) => app.rules.reload()));
}

/** Returns why a tool cannot be switched on: the configuration takes precedence over switches. */
export function disabledByConfig({ loaded }: App, tool: string): Failure | undefined {
  if (!loaded.config.disabledTools.includes(tool)) return undefined;
  const message = `${tool} is switched off in the configuration (disabledTools): change it there.`;
  return { code: 'CONFLICT', message };
}
