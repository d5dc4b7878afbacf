import type { Logger } from '../kernel/ports.ts';
import type { SecretHider } from '../secrets/hide-secrets.ts';
import type { LoadedConfig } from './config/load-config.ts';

export interface LogPlace {
  /** Gets one JSON object a line. */
  readonly stream: { write(line: string): unknown };
  /** `always`: also at the default level, as a server does. `chosen`: only if a level was configured. */
  readonly when: 'always' | 'chosen';
}

/** Opens the configured log, which hides secrets. Returns undefined when nothing would be logged. */
export async function openLog(
  { config, sources }: Pick<LoadedConfig, 'config' | 'sources'>,
  hider: SecretHider,
  place: LogPlace | undefined,
): Promise<Logger | undefined> {
  if (place === undefined || config.logLevel === 'silent') return undefined;
  if (place.when === 'chosen' && sources.logLevel === 'default') return undefined;
  const { pino } = await import('pino');
  const { stream } = place;
  const log = pino({ level: config.logLevel, base: null }, { write: (line) => void stream.write(line) });
  const hidden = (level: 'debug' | 'info' | 'warn' | 'error') => (fields: object, message: string) => {
    if (log.isLevelEnabled(level)) log[level](hider.hide(fields), hider.hide(message));
  };
  return {
    debug: hidden('debug'),
    info: hidden('info'),
    warn: hidden('warn'),
    error: hidden('error'),
    isLevelEnabled: (level) => log.isLevelEnabled(level),
  };
}
