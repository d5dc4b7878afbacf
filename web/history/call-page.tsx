import { ArrowLeft } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import type { CallView } from '../../src/protocol/calls.ts';
import { exitCodeIn, notesIn, wholeOutputOf } from '../../src/protocol/command-value.ts';
import { secretPathOf } from '../../src/protocol/secret-path.ts';
import { api, messageOf } from '../api/api.ts';
import { FreePath } from '../paths/free-path.tsx';
import { useWorkspaceOf } from '../paths/path-decisions.ts';
import { go } from '../shell/route.ts';
import { Arguments } from '../show/arguments.tsx';
import { CopyButton } from '../show/copy-button.tsx';
import { formatDateTime, formatDuration } from '../show/format.ts';
import { OutputFrame } from '../show/output-frame.tsx';
import { PhaseBadge } from '../show/phase-badge.tsx';
import { Trouble } from '../show/trouble.tsx';
import { VisibleText } from '../show/visible-text.tsx';
import { WholeOutput } from '../show/whole-output.tsx';
import { phaseOf } from '../state/feed.ts';
import { callChanges } from '../state/server-state.ts';
import { useStore } from '../state/store.ts';
import { useThrottled } from '../state/use-throttled.ts';
import { language as shownLanguage, useWords } from '../words/words.ts';

/** One call, at an address of its own. */
export function CallPage({ id }: { id: string }): ReactNode {
  const say = useWords();
  const [call, setCall] = useState<CallView | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const changes = useThrottled(callChanges, 500);
  const isOver = call?.id === id && call.finishedAt !== null;
  // biome-ignore lint/correctness/useExhaustiveDependencies: until it is over, every change is a reason to look again
  useEffect(() => {
    api('getCall', { at: { id } }).then(setCall, (error) => setTrouble(messageOf(error)));
  }, [id, isOver || changes]);
  return (
    <div className="h-full overflow-auto p-4">
      <button type="button" className="button plain" onClick={() => go('history')}>
        <ArrowLeft size={16} aria-hidden />
        {say('history')}
      </button>
      <Trouble text={trouble} />
      {call !== null && <CallDetails call={call} />}
    </div>
  );
}

function CallDetails({ call }: { call: CallView }): ReactNode {
  const say = useWords();
  const language = useStore(shownLanguage);
  const { outcome } = call;
  const workspace = useWorkspaceOf(call.session);
  const secret = secretPathOf(outcome?.error?.details);
  const blocks = call.view ?? [{ kind: 'text' as const, text: outcome?.error?.message ?? outcome?.text ?? '' }];
  return (
    <article className="mt-2 flex max-w-4xl flex-col gap-3">
      <div className="flex flex-wrap items-center gap-4">
        <h1 className="font-mono font-semibold text-xl">{call.tool}</h1>
        <PhaseBadge phase={phaseOf(call)} exitCode={exitCodeIn(outcome?.value)} />
        <CopyButton text={location.href} name={say('permalink')} />
      </div>
      <p className="text-soft text-sm">
        {formatDateTime(call.requestedAt, language)}
        {call.durationMs !== null && ` · ${say('duration')}: ${formatDuration(call.durationMs)}`}
        {(call.waitedMs ?? 0) > 1000 && ` · ${say('waited')}: ${formatDuration(call.waitedMs ?? 0)}`}
        {call.approvedBy !== null && ` · ${say('approvedBy', { name: call.approvedBy || '?' })}`}
        {call.deniedBy !== null && ` · ${say('deniedBy', { name: call.deniedBy })}`}
      </p>
      <button type="button" className="w-fit text-accent text-sm underline" onClick={() => go('chat', call.session)}>
        {say('session')}: {call.session}
      </button>
      <Arguments args={call.args} most={20_000} />
      <OutputFrame error={outcome?.error} blocks={blocks}>
        {outcome !== null && wholeOutputOf(outcome) !== undefined && <WholeOutput id={call.id} tool={call.tool} />}
      </OutputFrame>
      {notesIn(outcome?.value).map((note) => (
        <p key={note} className="text-sm text-warn [overflow-wrap:anywhere]">
          <VisibleText text={note} />
        </p>
      ))}
      {secret?.reason === 'secret' && <FreePath path={secret.path} workspace={workspace} />}
    </article>
  );
}
