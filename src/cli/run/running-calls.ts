import type { Event } from '../../kernel/call/event.ts';
import type { Cli } from '../cli.ts';
import { harmless } from '../text/style.ts';

const EVERY_MS = 1000;
const MAX_LINES = 6;
const MAX_CHARS = 4000;

interface RunningCall {
  readonly tool: string;
  readonly since: number;
  tail: string;
}

/**
 * Shows the running calls of a session at the end of the terminal: the elapsed time, and the last lines that a command has
 * printed. Nothing while a person is asked.
 */
export class RunningCalls {
  readonly #cli: Pick<Cli, 'live' | 'words'>;
  readonly #running = new Map<string, RunningCall>();
  readonly #asked = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(cli: Pick<Cli, 'live' | 'words'>) {
    this.#cli = cli;
  }

  show(event: Event): void {
    if (!this.#cli.live.isShown) return;
    if (event.type === 'approval.requested') this.#asked.add(event.data.approvalId);
    if (event.type === 'approval.decided') this.#asked.delete(event.data.approvalId);
    if (event.type === 'call.started')
      this.#running.set(event.callId, { tool: event.data.tool, since: performance.now(), tail: '' });
    if (event.type === 'call.progressed') this.#progressed(event.callId, event.data.output ?? '');
    if (event.type === 'call.finished') this.#running.delete(event.callId);
    if (this.#running.size === 0) this.stop();
    else this.#timer ??= setInterval(() => this.#draw(), EVERY_MS).unref();
    if (event.type === 'call.progressed') this.#draw();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#cli.live.clear();
  }

  #progressed(callId: string, output: string): void {
    const call = this.#running.get(callId);
    if (call !== undefined) call.tail = (call.tail + output).slice(-MAX_CHARS);
  }

  #draw(): void {
    if (this.#asked.size > 0) return;
    this.#cli.live.draw([...this.#running.values()].flatMap((call) => this.#linesOf(call)));
  }

  #linesOf({ tool, since, tail }: RunningCall): string[] {
    const lines = harmless(tail).replaceAll('\t', '    ').trimEnd().split('\n').slice(-MAX_LINES);
    const seconds = Math.round((performance.now() - since) / 1000);
    const shown = tail.trim() === '' ? [] : lines.map((line) => `    ${line}`);
    return [...shown, `  ${this.#cli.words.runningFor(harmless(tool), seconds)}`];
  }
}
