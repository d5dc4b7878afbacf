import { randomBytes } from 'node:crypto';

/** Sorts by time, and reads well: `chat-20270131-154501-k3f9`. */
export function newSessionId(kind: 'chat' | 'run' | 'demo'): string {
  const [day = '', time = ''] = new Date().toISOString().replace(/[-:]/g, '').split('T');
  return `${kind}-${day}-${time.slice(0, 6)}-${randomBytes(3).toString('hex')}`;
}
