import type { Event, EventData } from '../../kernel/call/event.ts';
import { isPlainObject } from '../../kernel/tool/check-arguments.ts';
import { commandOfKeeping } from '../../protocol/command-of-keeping.ts';
import { exitCodeIn, notesIn, wentWell } from '../../protocol/command-value.ts';
import type { Cli } from '../cli.ts';
import { harmless, toJson } from '../text/style.ts';
import { effectLines, type KeptDiff, keptDiffsIn } from './command-effect.ts';
import { RunningCalls } from './running-calls.ts';

const MAX_LINES = 8;

interface CallInView {
  readonly tool: string;
  readonly args: unknown;
  /** Known when the call has started, or a person was asked about it. */
  readonly summary?: string;
}

interface RunViewOptions {
  /** Lines of a call's text that are shown. */
  readonly mostLines?: number;
}

/** Shows a session's events to a person: streamed text, and each call with its summary and outcome. */
export class RunView {
  readonly #cli: Cli;
  readonly #mostLines: number;
  readonly #calls: RunningCalls;
  readonly #shown = new Set<string>();
  readonly #asked = new Map<string, CallInView>();
  /** Diffs of the changes that were kept, by the command that made them. */
  readonly #keptDiffs = new Map<string, readonly KeptDiff[]>();
  /** Kind of the message that is being streamed. */
  #streamed: 'text' | 'thinking' | undefined;

  constructor(cli: Cli, { mostLines = MAX_LINES }: RunViewOptions = {}) {
    this.#cli = cli;
    this.#mostLines = mostLines;
    this.#calls = new RunningCalls(cli);
  }

  show(event: Event): void {
    if (!this.#replays) this.#calls.show(event);
    if (event.type === 'message.streamed') this.#stream(event.data);
    if (event.type === 'message.added') this.#message(event.data);
    if (event.type === 'call.requested') this.#asked.set(event.callId, event.data);
    // Shown as a part of the command.
    const command = this.#commandOf(event);
    if (command !== undefined) {
      if (event.type === 'call.finished') this.#kept(command, event);
      return;
    }
    if (event.type === 'approval.requested') this.#presented(event.callId, event.data.shown?.summary);
    if (event.type === 'call.started') this.#call(event.callId, event.data);
    if (event.type === 'call.finished') this.#finished(event.callId, event.data);
    if (event.type === 'run.finished') this.#end(event.data);
  }

  /** The command whose changes a call keeps. */
  #commandOf({ callId }: Event): string | undefined {
    const asked = callId === null ? undefined : this.#asked.get(callId);
    return asked && commandOfKeeping(asked);
  }

  #kept(command: string, { callId, data }: Extract<Event, { type: 'call.finished' }>): void {
    this.#asked.delete(callId);
    // Changes may also be kept after the command has ended.
    if (this.#asked.has(command)) this.#keptDiffs.set(command, keptDiffsIn(data.outcome.value));
  }

  #stream({ kind, text }: EventData['message.streamed']): void {
    const { io, style } = this.#cli;
    if (kind === 'call') return;
    if (kind === 'restarted') {
      this.#breakLine();
      this.#cli.print(style.yellow(`↻ ${style.line(text, 2)}`));
      return;
    }
    this.#cli.live.clear();
    if (this.#streamed !== kind) this.#breakLine();
    this.#streamed = kind;
    io.stdout.write(kind === 'text' ? harmless(text) : style.dim(harmless(text)));
  }

  /** Shows messages that were not streamed, as in a replay. */
  #message({ role, text }: EventData['message.added']): void {
    const { print, words } = this.#cli;
    if (role === 'user' && this.#replays) print(`\n${words.prompt}${harmless(text)}`);
    if (role !== 'assistant') return;
    if (this.#streamed === undefined && text !== '') print(harmless(text));
    this.#breakLine();
  }

  #presented(callId: string, summary: string | undefined): void {
    const asked = this.#asked.get(callId);
    if (asked !== undefined && summary !== undefined) this.#asked.set(callId, { ...asked, summary });
  }

  #call(callId: string, { tool, args, summary }: CallInView): void {
    const { style } = this.#cli;
    this.#breakLine();
    this.#shown.add(callId);
    const name = harmless(tool);
    const about = style.line(summary ?? briefArguments(args), name.length + 3);
    this.#cli.print(`${style.bold('▸')} ${style.bold(name)} ${style.dim(about)}`);
  }

  /** Shows the end of a call, and the call itself if it never started. */
  #finished(callId: string, { tool, state, outcome, durationMs }: EventData['call.finished']): void {
    const { style, words } = this.#cli;
    const asked = this.#asked.get(callId);
    if (!this.#shown.has(callId) && asked !== undefined) this.#call(callId, asked);
    this.#asked.delete(callId);
    this.#shown.delete(callId);
    this.#breakLine();
    const mark = wentWell(outcome) ? style.green('✓') : style.red('✗');
    const how = state === 'succeeded' ? '' : ` ${state}`;
    const exitCode = exitCodeIn(outcome.value);
    const facts = [
      exitCode === null ? '' : words.exitCode(exitCode),
      durationMs === null ? '' : `${Math.round(durationMs)} ms`,
    ];
    this.#cli.print(`  ${mark} ${harmless(tool)}${how} ${style.dim(facts.filter(Boolean).join(' · '))}`);
    const keptDiffs = this.#keptDiffs.get(callId) ?? [];
    this.#keptDiffs.delete(callId);
    for (const line of effectLines(this.#cli, { callId, value: outcome.value, keptDiffs }))
      this.#cli.print(`    ${line}`);
    // In full, since they say what to do next; in the text they stand at the end, which is cut.
    const notes = notesIn(outcome.value);
    for (const note of notes) this.#cli.print(style.yellow(`    ${harmless(note)}`));
    const lines = outcome.text.split('\n').filter((line) => !notes.includes(line.slice(1, -1)));
    // An error is never cut: the next step is at its end.
    const isCut = outcome.ok && this.#mostLines < Infinity;
    const fitted = (line: string) => (isCut ? style.row(line, 4) : harmless(line));
    for (const line of lines.slice(0, this.#mostLines)) this.#cli.print(style.dim(`    ${fitted(line)}`));
    const left = lines.length - this.#mostLines;
    if (left > 0) this.#cli.print(style.dim(`    ${words.moreLines(left)}`));
  }

  #end({ reason, message, turns, usage }: EventData['run.finished']): void {
    const { style, words } = this.#cli;
    this.#breakLine();
    const tokens = usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
    const mark = reason === 'done' ? style.green('✓') : style.red('✗');
    this.#cli.print(
      `${mark} ${words.ends[reason]} ${style.dim(`(${words.used(turns, tokens, '')})`)} ${harmless(words.said(message))}`.trimEnd(),
    );
  }

  /** Ends what is drawn again and again. */
  close(): void {
    this.#calls.stop();
  }

  #breakLine(): void {
    if (this.#streamed !== undefined) this.#cli.io.stdout.write('\n');
    this.#streamed = undefined;
  }

  #replays = false;

  /** Also shows the user's own messages, which nobody has just typed. */
  replay(): this {
    this.#replays = true;
    return this;
  }
}

/** The values of the arguments as a person would say them: `a.txt, 20`. */
function briefArguments(args: unknown): string {
  if (!isPlainObject(args)) return toJson(args);
  return Object.values(args)
    .map((value) => (typeof value === 'string' ? value : toJson(value)))
    .join(', ');
}
