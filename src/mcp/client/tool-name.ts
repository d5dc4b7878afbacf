import { hash } from 'node:crypto';

const MAX_NAME_CHARS = 64;

/**
 * Returns `server__tool` in the form every model API accepts. Other characters are replaced, and a hash keeps names
 * distinct.
 */
export function toolName(server: string, tool: string): string {
  const whole = `${server}__${tool}`;
  const clean = whole.replaceAll(/[^A-Za-z0-9_-]/g, '_');
  if (clean === whole && whole.length <= MAX_NAME_CHARS) return whole;
  const suffix = hash('sha256', whole, 'hex').slice(0, 8);
  return `${clean.slice(0, MAX_NAME_CHARS - suffix.length - 1)}_${suffix}`;
}

/** Whether a name can be that of a server's tool, even while the server is down, so that a rule may mention it. */
export function mayBeToolOf(server: string, name: string): boolean {
  return name.startsWith(`${server}__`);
}
