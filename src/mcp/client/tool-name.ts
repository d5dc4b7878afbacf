import { createHash } from 'node:crypto';

const LONGEST = 64;

/** `server__tool`, as every model's API takes it. What does not fit is replaced, and told apart by a hash. */
export function toolName(server: string, tool: string): string {
  const whole = `${server}__${tool}`;
  const clean = whole.replaceAll(/[^A-Za-z0-9_-]/g, '_');
  if (clean === whole && whole.length <= LONGEST) return whole;
  const hash = createHash('sha256').update(whole).digest('hex').slice(0, 8);
  return `${clean.slice(0, LONGEST - hash.length - 1)}_${hash}`;
}

/** Whether a name can be that of a server's tool, also while that server is down: so that a rule may speak of it. */
export function mayBeToolOf(server: string, name: string): boolean {
  return name.startsWith(`${server}__`);
}
