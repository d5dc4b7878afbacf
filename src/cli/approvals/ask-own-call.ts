import type { Host } from '../../app/open-host.ts';
import type { LogEvent } from '../../kernel/call/event.ts';
import { messageOf } from '../../kernel/error.ts';
import type { Cli } from '../cli.ts';
import { harmless } from '../text/style.ts';
import { alwaysAnswer } from './always-answer.ts';
import { askApproval } from './ask-approval.ts';
import { previewLines } from './preview.ts';
import { Prompter } from './prompter.ts';
import { createTerminalApprover } from './terminal-approver.ts';

interface OwnCall {
  readonly session: string;
  /** Ends the call. */
  readonly stop: AbortController;
}

/**
 * Asks for approval of a session's calls if a person sits at the terminal, and otherwise prints where to answer. The
 * question ends when it is answered elsewhere. All output goes to stderr, since stdout belongs to the call. Returns a
 * function that stops asking.
 */
export function askOwnCall(cli: Cli, host: Host, { session, stop }: OwnCall): () => void {
  const { io, words, note } = cli;
  const interactive = io.stdin.isTTY === true && io.stderr.isTTY === true;
  const prompter = interactive
    ? new Prompter({ words, io: { ...io, stdout: io.stderr } }, { onInterrupt: () => stop.abort() })
    : undefined;
  const always = alwaysAnswer(host.ledger, host.answers);
  const approver =
    prompter && createTerminalApprover({ ...cli, print: note }, () => prompter, { always: () => always });
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
    // The event hides secrets; a person must see the exact arguments.
    const approval = await host.ledger.approval(id);
    if (approver === undefined || approval?.state !== 'pending') return;
    const signal = AbortSignal.any([stop.signal, over.signal]);
    const answered = await askApproval(cli, approver, approval, { answers: host.answers, signal });
    if (!answered && !stop.signal.aborted) note(`\n  ${words.tooLate(id)}`);
  }

  function tellOf({ data }: Extract<LogEvent, { type: 'approval.requested' }>): void {
    const { approvalId, tool, reason, shown } = data;
    note(harmless(`${shown?.summary ?? tool}: ${words.said(reason)}`));
    for (const line of previewLines(shown?.preview ?? [], cli)) note(`  ${line}`);
    note(words.waitingElsewhere(approvalId));
  }

  /** Reports that asking failed; the call still waits for an answer from elsewhere. */
  function failed(id: string, error: unknown): void {
    note(`  ${harmless(messageOf(error))}`);
    note(words.waitingElsewhere(id));
  }
}
