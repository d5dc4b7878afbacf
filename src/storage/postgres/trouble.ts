import { StoreError, type StoreTrouble } from '../../kernel/call/store-error.ts';
import { messageOf } from '../../kernel/error.ts';

const NETWORK = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'ENOENT']);

/**
 * Returns true when the server is away, starting or stopping: a retry may help; whether the statement ran is unknown.
 */
export function isAway(error: unknown): boolean {
  const { code, message = '' } = error as { code?: unknown; message?: string };
  if (typeof code !== 'string') return /connection terminated|connection ended|timeout|not queryable/i.test(message);
  return NETWORK.has(code) || code.startsWith('08') || /^57P0[1-5]$/.test(code) || code === '53300';
}

/** Returns true when two writers collided: the whole transaction was rolled back and may run again. */
export function isCollision(error: unknown): boolean {
  return ['40001', '40P01', '23505'].includes((error as { code?: string } | null)?.code ?? '');
}

/**
 * Turns an error of the driver into a StoreError that names the next step. Other errors, such as bugs, pass unchanged.
 */
export function postgresTrouble(error: unknown): unknown {
  if (error instanceof StoreError) return error;
  if (isAway(error))
    return trouble('unreachable', 'the database does not answer: check that it runs and DATABASE_URL', error);
  const { code } = error as { code?: unknown };
  if (typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code)) return error;
  if (code === '53100')
    return trouble('full', "the database's disk is full. Free some space; the store then continues by itself", error);
  if (code.startsWith('28') || code === '3D000')
    return trouble('failed', 'the database refused us: check DATABASE_URL', error);
  if (code === '55P03') return trouble('busy', 'another process holds the database; try again', error);
  if (code.startsWith('XX')) return trouble('damaged', 'the database is damaged: see its log', error);
  return trouble('failed', 'the database refused the write', error);
}

function trouble(kind: StoreTrouble, advice: string, error: unknown): StoreError {
  return new StoreError(kind, `The store cannot be used: ${advice} (${messageOf(error)}).`, error);
}
