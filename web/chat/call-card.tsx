import { ChevronDown, ChevronRight } from 'lucide-react';
import { memo, type ReactNode, useState } from 'react';
import { api, messageOf } from '../api/api.ts';
import { ApprovalDialog } from '../approvals/approval-dialog.tsx';
import { CommandChanges, keptFacts } from '../changes/command-changes.tsx';
import { FreePath } from '../paths/free-path.tsx';
import { useWorkspaceOf } from '../paths/path-decisions.ts';
import { Arguments } from '../show/arguments.tsx';
import { formatDuration } from '../show/format.ts';
import { PhaseBadge } from '../show/phase-badge.tsx';
import { Trouble } from '../show/trouble.tsx';
import { VisibleText } from '../show/visible-text.tsx';
import { type CallItem, isOver, type Phase } from '../state/feed.ts';
import { currentSession } from '../state/server-state.ts';
import { useStore } from '../state/store.ts';
import { useWords } from '../words/words.ts';
import { CallResult } from './call-result.tsx';
import { LiveOutput, TimeSince } from './live-output.tsx';

const MAX_ARGUMENT_CHARS = 20_000;
/** Phases in which a person may have to act, or wants to know how far it came. */
const UNFOLDED: ReadonlySet<Phase> = new Set(['running', 'failed', 'waiting', 'cancelled']);

/** One call: a line with its summary and phase, which unfolds to its arguments and result. */
export const CallCard = memo(({ call }: { call: CallItem }): ReactNode => {
  const [chosen, setChosen] = useState<boolean | null>(null);
  const open = chosen ?? (UNFOLDED.has(call.phase) || call.secret?.reason === 'secret');
  const Arrow = open ? ChevronDown : ChevronRight;
  return (
    <section
      data-call={call.id}
      aria-label={`${call.tool}: ${call.summary}`}
      className="rounded-lg border border-line bg-panel"
    >
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setChosen(!open)}
        className="flex min-h-11 w-full items-center gap-2 px-3 py-1.5 text-left"
      >
        <Arrow size={16} aria-hidden className="shrink-0 text-soft" />
        <code className="shrink-0 font-mono text-sm">{call.tool}</code>
        <span className="min-w-0 flex-1 truncate text-soft">
          <VisibleText text={call.summary === call.tool ? '' : call.summary} />
        </span>
        {call.phase === 'running' && call.startedAt !== null && <TimeSince at={call.startedAt} />}
        {call.durationMs !== null && (
          <span className="shrink-0 text-soft text-xs">{formatDuration(call.durationMs)}</span>
        )}
        <Effect call={call} />
        <PhaseBadge phase={call.phase} />
      </button>
      {open && <Details call={call} />}
    </section>
  );
});

/** "exit 0 · 3 changed, 12 new · kept". A command that failed looks so, although it ran. */
function Effect({ call }: { call: CallItem }): ReactNode {
  const say = useWords();
  const { exitCode, kept } = call;
  if (exitCode === null && kept === null) return null;
  const facts = [
    exitCode === null ? '' : say('exitCode', { code: exitCode }),
    ...(kept === null ? [] : keptFacts(kept, say)),
  ];
  return (
    <span className={`shrink-0 text-sm ${hasFailed(call) ? 'font-medium text-bad' : 'text-soft'}`} data-effect>
      {facts.filter(Boolean).join(' · ')}
    </span>
  );
}

function hasFailed({ exitCode }: CallItem): boolean {
  return exitCode !== null && exitCode !== 0;
}

function Details({ call }: { call: CallItem }): ReactNode {
  const say = useWords();
  const workspace = useWorkspaceOf(useStore(currentSession));
  return (
    <div className="flex flex-col gap-2 border-line border-t px-3 py-2">
      <Arguments args={call.args} most={MAX_ARGUMENT_CHARS} />
      {call.changed.length > 0 && (
        <p className="text-sm text-warn">{say('edited', { fields: call.changed.join(', ') })}</p>
      )}
      {call.decidedBy !== null && (
        <p className="text-soft text-sm">
          {say(call.phase === 'denied' ? 'deniedBy' : 'approvedBy', { name: call.decidedBy || '?' })}
        </p>
      )}
      {call.live !== '' && <LiveOutput text={call.live} />}
      {call.phase === 'waiting' && call.keeping?.approvalId != null && <ReviewButton id={call.keeping.approvalId} />}
      {/* In the text they stand at the end, which is folded. */}
      {call.notes.map((note) => (
        <p key={note} className="text-sm text-warn [overflow-wrap:anywhere]">
          <VisibleText text={note} />
        </p>
      ))}
      {isOver(call) && <CallResult call={call} />}
      {call.secret?.reason === 'secret' && <FreePath path={call.secret.path} workspace={workspace} />}
      {isOver(call) && call.kept !== null && <CommandChanges call={call} kept={call.kept} />}
      <Actions call={call} />
    </div>
  );
}

/** Collected changes are not in the workspace yet. */
function canUndo({ writes, kept }: CallItem): boolean {
  return writes || (kept !== null && kept.total > 0 && kept.state !== 'collected');
}

function ReviewButton({ id }: { id: string }): ReactNode {
  const say = useWords();
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="button w-fit" onClick={() => setOpen(true)}>
        {say('changesReview')}
      </button>
      {open && <ApprovalDialog id={id} onClose={() => setOpen(false)} />}
    </>
  );
}

function Actions({ call }: { call: CallItem }): ReactNode {
  const say = useWords();
  const [said, setSaid] = useState<string | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const attempt = async (work: () => Promise<string | null>) => {
    try {
      setTrouble(null);
      setSaid(await work());
    } catch (error) {
      setTrouble(messageOf(error));
    }
  };
  const stop = () =>
    attempt(async () => {
      await api('cancelCall', { at: { id: call.id } });
      return null;
    });
  const undo = () =>
    attempt(async () => {
      const { restored } = await api('undoCall', { at: { id: call.id } });
      return say('undone', { paths: restored.join(', ') });
    });
  return (
    <div className="flex flex-wrap items-center gap-2 empty:hidden">
      {!isOver(call) && (
        <button type="button" className="button" onClick={() => void stop()}>
          {say('stopCall')}
        </button>
      )}
      {call.state === 'succeeded' && canUndo(call) && said === null && (
        <button type="button" className="button" onClick={() => void undo()}>
          {say('undo')}
        </button>
      )}
      {said !== null && <span className="text-good text-sm">{said}</span>}
      <Trouble text={trouble} />
    </div>
  );
}
