import type { Failure } from '../kernel/error.ts';
import type { App } from './open-app.ts';

/** Why a tool cannot be switched on: the configuration goes before what is switched. */
export function keptOff({ loaded }: App, tool: string): Failure | undefined {
  if (!loaded.config.disabledTools.includes(tool)) return undefined;
  const message = `${tool} is switched off in the configuration (disabledTools): change it there.`;
  return { code: 'CONFLICT', message };
}
