import { createHash } from 'node:crypto';
import type { AssistantMessage, ResultsMessage } from '../kernel/call/message.ts';

const LOOKED_AT = 20;
const WARN_AT = 3;
const STOP_AT = 5;

/** Notices that the same calls gave the same results again and again, also with others in between. */
export class LoopDetector {
  #latest: string[] = [];

  /** `stop` after five times among the last twenty turns, `warn` at the third. */
  look(turn: AssistantMessage, { results }: ResultsMessage): 'fine' | 'warn' | 'stop' {
    const calls = turn.parts.flatMap((part) => (part.type === 'call' ? [[part.name, part.args]] : []));
    const said = results.map(({ text }) => text.replace(MARK, ''));
    const signature = createHash('sha256')
      .update(JSON.stringify([calls, said]))
      .digest('base64');
    this.#latest = [...this.#latest.slice(1 - LOOKED_AT), signature];
    const times = this.#latest.filter((one) => one === signature).length;
    if (times >= STOP_AT) return 'stop';
    return times === WARN_AT ? 'warn' : 'fine';
  }
}

/** Differs from call to call although nothing else does. */
const MARK = /<\/?untrusted-[0-9a-f]+/g;
