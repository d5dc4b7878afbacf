import type { Progress } from '../../kernel/call/ledger.ts';
import type { MaybePromise } from '../../kernel/result.ts';
import type { Cli } from '../cli.ts';

const AFTER_MS = 300;
const EVERY_MS = 100;
const WIDTH = 12;

/**
 * Shows on stderr that long work is under way, and its progress where known; short work shows nothing. Only for a
 * person
 * at a terminal who did not ask for plain output.
 */
export async function showSpinner<T>(
  { io: { stderr, env }, argv }: Pick<Cli, 'io' | 'argv'>,
  what: string,
  work: Promise<T> | ((progress: Progress) => MaybePromise<T>),
): Promise<T> {
  const isShown = stderr.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb' && !argv.includes('--json');
  const started = performance.now();
  let next = started + AFTER_MS;
  let shown = false;
  let beat = 0;
  const show = (bar: string) => {
    if (!isShown || performance.now() < next) return;
    next = performance.now() + EVERY_MS;
    shown = true;
    stderr.write(`\r\x1b[2K${what} ${bar}`);
  };
  const timer = isShown ? setInterval(() => show(running(beat++)), EVERY_MS) : undefined;
  try {
    if (typeof work !== 'function') return await work;
    // Called in the middle of work that blocks timers.
    return await work((done, of) => {
      clearInterval(timer);
      show(filled(of === 0 ? 1 : Math.min(1, done / of)));
    });
  } finally {
    clearInterval(timer);
    if (shown) stderr.write('\r\x1b[2K');
  }
}

function filled(share: number): string {
  const full = Math.round(share * WIDTH);
  return `[${'#'.repeat(full)}${'-'.repeat(WIDTH - full)}] ${Math.floor(share * 100)} %`;
}

function running(beat: number): string {
  const at = beat % WIDTH;
  return `[${'-'.repeat(at)}#${'-'.repeat(WIDTH - at - 1)}]`;
}
