import { hash } from 'node:crypto';
import type { AssistantMessage, ResultsMessage } from '../kernel/call/message.ts';

const LOOKED_AT = 20;
const WARN_AT = 3;
const STOP_AT = 5;

/** Detects that the same calls gave the same results repeatedly, also with others in between. */
export class LoopDetector {
  #latest: string[] = [];

  /** `stop` after five repetitions within the last twenty turns, `warn` at the third. */
  look(turn: AssistantMessage, { results }: ResultsMessage): 'fine' | 'warn' | 'stop' {
    const calls = turn.parts.flatMap((part) => (part.type === 'call' ? [[part.name, part.args]] : []));
    const said = results.map(({ text }) => text.replace(MARK, ''));
    const signature = hash('sha256', JSON.stringify([calls, said]), 'base64');
    this.#latest = [...this.#latest.slice(1 - LOOKED_AT), signature];
    const times = this.#latest.filter((one) => one === signature).length;
    if (times >= STOP_AT) return 'stop';
    return times === WARN_AT ? 'warn' : 'fine';
  }
}

/** Part of a result that differs for every call. */
const MARK = /<\/?untrusted-[0-9a-f]+/g;
