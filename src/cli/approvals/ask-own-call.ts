import type { Host } from '../../app/open-host.ts';
import { messageOf } from '../../kernel/error.ts';
import type { LogEvent } from '../../kernel/call/event.ts';
import { askAbout } from './ask-approval.ts';
import { askInPlace } from './terminal-approver.ts';
import type { Cli } from '../cli.ts';
import { previewLines } from './preview.ts';
import { Prompter } from './prompter.ts';
import { harmless } from '../text/style.ts';

interface OwnCall {
  readonly session: string;
  /** Ends the call. */
  readonly stop: AbortController;
}

/**
 * Asks about the calls of a session if somebody sits here, and else tells where it can be answered. Another door may be
 * quicker: then the question ends. All on the error stream, since the output is the call's. Returns how to stop.
 */
export function askOwnCall(cli: Cli, host: Host, { session, stop }: OwnCall): () => void {
  const { io, words, note } = cli;
  const interactive = io.stdin.isTTY === true && io.stderr.isTTY === true;
  const prompter = interactive
    ? new Prompter({ ...io, stdout: io.stderr }, { onInterrupt: () => stop.abort() })
    : undefined;
  const approver = prompter && askInPlace({ ...cli, print: note }, () => prompter);
  const asking = new Map<string, AbortController>();
  const unfollow = host.ledger.follow((event) => {
    if (event.session !== session) return;
    if (event.type === 'approval.decided') asking.get(event.data.approvalId)?.abort();
    else if (event.type !== 'approval.requested') return;
    else if (approver === undefined) tellOf(event);
    else void ask(event.data.approvalId).catch((error) => failed(event.data.approvalId, error));
  });
  return () => {
    unfollow();
    prompter?.close();
  };

  async function ask(id: string): Promise<void> {
    const over = new AbortController();
    asking.set(id, over);
    // The event hides secrets; a person is asked about what will run.
    const approval = await host.ledger.approval(id);
    if (approver === undefined || approval?.state !== 'pending') return;
    const signal = AbortSignal.any([stop.signal, over.signal]);
    const answered = await askAbout(cli, approver, approval, { answers: host.answers, signal });
    if (!answered && !stop.signal.aborted) note(`\n  ${words.tooLate(id)}`);
  }

  function tellOf({ data }: Extract<LogEvent, { type: 'approval.requested' }>): void {
    const { approvalId, tool, reason, shown } = data;
    note(harmless(`${shown?.summary ?? tool}: ${words.said(reason)}`));
    for (const line of previewLines(shown?.preview ?? [], words)) note(`  ${line}`);
    note(words.waitingElsewhere(approvalId));
  }

  /** The call still waits, for whoever can answer. */
  function failed(id: string, error: unknown): void {
    note(`  ${harmless(messageOf(error))}`);
    note(words.waitingElsewhere(id));
  }
}
