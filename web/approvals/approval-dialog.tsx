import { type ReactNode, useEffect, useLayoutEffect, useState } from 'react';
import type { ApprovalDetail, Approve } from '../../src/protocol/approvals.ts';
import { api, messageOf } from '../api/api.ts';
import { ChangesQuestion } from '../changes/changes-question.tsx';
import { Dialog, DialogBody } from '../show/dialog.tsx';
import { formatDuration } from '../show/format.ts';
import { isComposing } from '../show/input-method.ts';
import { Trouble } from '../show/trouble.tsx';
import { approvals, forgetApproval } from '../state/server-state.ts';
import { useStore } from '../state/store.ts';
import { useWords } from '../words/words.ts';
import { AlwaysRule } from './always-rule.tsx';
import { ApprovalReason } from './approval-reason.tsx';
import { CallPreview, isCommand } from './call-preview.tsx';
import { type ArgumentsEdit, EditArguments } from './edit-arguments.tsx';
import { useArmed } from './use-armed.ts';

/** One approval request in full: the call, the reason, the answers. The digest approved is the digest shown. */
export function ApprovalDialog({ id, onClose }: { id: string; onClose: () => void }): ReactNode {
  const say = useWords();
  const [detail, trouble] = useDetail(id);
  const [answering, setAnswering] = useState(false);
  const [written, setWritten] = useState(false);
  const asks = detail !== null && (detail.state === 'pending' || answering);
  const changes = detail?.preview.find((block) => block.kind === 'changes');
  return (
    <Dialog
      wide
      bare
      unsaved={asks && written}
      title={
        changes !== undefined
          ? say('changesTitle')
          : detail !== null && isCommand(detail)
            ? say('approvalTitleCommand')
            : say('approvalTitle', { tool: detail?.tool ?? '…' })
      }
      onClose={onClose}
    >
      {asks && changes !== undefined ? (
        <ChangesQuestion
          key={detail.digest}
          approval={detail}
          changes={changes}
          onAnswering={setAnswering}
          onWritten={setWritten}
          onAnswered={onClose}
        />
      ) : asks ? (
        <Question
          key={detail.digest}
          approval={detail}
          staleBecause={trouble}
          onAnswering={setAnswering}
          onWritten={setWritten}
          onAnswered={onClose}
        />
      ) : (
        <DialogBody>
          <Trouble text={trouble} />
          {detail !== null && <ClosedQuestion approval={detail} />}
        </DialogBody>
      )}
    </Dialog>
  );
}

function Question({
  approval,
  staleBecause,
  onAnswering,
  onWritten,
  onAnswered,
}: {
  approval: ApprovalDetail;
  staleBecause: string | null;
  onAnswering: (answering: boolean) => void;
  onWritten: (written: boolean) => void;
  onAnswered: () => void;
}): ReactNode {
  const say = useWords();
  const armed = useArmed(approval.digest);
  const [seen, setSeen] = useState<ReadonlySet<string>>(new Set());
  const [editing, setEditing] = useState(false);
  const [always, setAlways] = useState(false);
  const [edited, setEdited] = useState<ArgumentsEdit | null>(null);
  const [broken, setBroken] = useState(false);
  const [words, setWords] = useState('');
  const [busy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState<string | null>(null);

  async function answer(work: () => Promise<unknown>): Promise<void> {
    setBusy(true);
    onAnswering(true);
    setTrouble(null);
    try {
      await work();
      forgetApproval(approval.id);
      onAnswered();
    } catch (error) {
      setTrouble(messageOf(error));
      onAnswering(false);
      setBusy(false);
    }
  }
  const approve = (more: Pick<Approve, 'always'> = {}) => {
    const { args, digest } = edited ?? { digest: approval.digest };
    const body = { digest: digest ?? '', ...(args !== undefined && { modifiedArgs: args }), ...more };
    return answer(() => api('approve', { at: { id: approval.id }, body }));
  };
  /** Leaving the edit form drops its arguments: only arguments on the page may run. */
  const toggleEditing = () => {
    setEditing(!editing);
    setEdited(null);
    setBroken(false);
  };
  const noteSeen = (shown: string) => setSeen((now) => new Set(now).add(shown));
  const deny = () =>
    answer(() => api('deny', { at: { id: approval.id }, body: words.trim() === '' ? {} : { message: words } }));
  const isWritten = edited !== null || broken || words.trim() !== '';
  // A layout effect runs before the next key, so the dialog knows of unsaved text when Escape comes.
  useLayoutEffect(() => onWritten(isWritten), [isWritten, onWritten]);
  const { digest } = edited ?? approval;
  const unseen = digest === null || !seen.has(digest);
  const ready = armed && !busy && !broken && !unseen;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isYes = event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !isComposing(event);
      // The text is sent only with Deny, so a person who typed some does not mean to allow.
      if (isYes && ready && !always && words.trim() === '') void approve();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  });
  return (
    <>
      <DialogBody>
        <div className="flex flex-col gap-4">
          {editing ? (
            <>
              <Expiry at={approval.expiresAt} />
              <EditArguments approval={approval} onEdited={setEdited} onBroken={setBroken} onSeen={noteSeen} />
            </>
          ) : (
            <CallPreview planned={approval} onSeen={noteSeen}>
              <Expiry at={approval.expiresAt} />
            </CallPreview>
          )}
          <ApprovalReason approval={approval} />
          {always && (
            <AlwaysRule approval={approval} disabled={!ready} onSave={(rule) => void approve({ always: rule })} />
          )}
          <label>
            <span className="text-sm">{say('denyReason')}</span>
            <textarea className="field" rows={1} value={words} onChange={({ target }) => setWords(target.value)} />
          </label>
        </div>
      </DialogBody>
      <div className="flex flex-wrap gap-2 border-line border-t px-4 py-3">
        <div className="w-full empty:hidden">
          <Trouble text={trouble ?? staleBecause} />
          {unseen && digest !== null && <p className="text-sm text-warn">{say('scrollToEnd')}</p>}
        </div>
        <button type="button" className="button danger" disabled={!armed || busy} onClick={() => void deny()}>
          {say('deny')}
        </button>
        <button type="button" className="button" aria-pressed={editing} onClick={toggleEditing}>
          {say('edit')}
        </button>
        {/* Disabled until the call was read to its end: opening the rules scrolls past it. */}
        <button
          type="button"
          className="button"
          aria-pressed={always}
          disabled={unseen}
          onClick={() => setAlways(!always)}
        >
          {say('always')}
        </button>
        <button type="button" className="button primary ml-auto" disabled={!ready} onClick={() => void approve()}>
          {say(edited === null ? 'allow' : 'allowEdited')}
        </button>
      </div>
    </>
  );
}

/** Shown for a request that is no longer open: it was answered here or elsewhere, expired, or was superseded. */
function ClosedQuestion({ approval }: { approval: ApprovalDetail }): ReactNode {
  const say = useWords();
  if (approval.state === 'expired') return <p role="status">{say('answerExpired')}</p>;
  if (approval.state === 'superseded') return <p role="status">{say('answerNotNeeded')}</p>;
  const answer = say(approval.state === 'approved' ? 'verdictAllow' : 'verdictDeny');
  return <p role="status">{say('answeredElsewhere', { name: approval.decidedBy ?? '?', answer })}</p>;
}

function Expiry({ at }: { at: number | null }): ReactNode {
  const say = useWords();
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  if (at === null) return null;
  return (
    <p className="text-soft text-sm" role="timer">
      {at > now ? say('expiresIn', { time: formatDuration(at - now) }) : say('answerExpired')}
    </p>
  );
}

/** Loads the request again when the list of open requests changes, since another person may have answered it. */
function useDetail(id: string): [ApprovalDetail | null, string | null] {
  const waiting = useStore(approvals).some((one) => one.id === id);
  const [detail, setDetail] = useState<ApprovalDetail | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `waiting` is the reason to ask again
  useEffect(() => {
    api('getApproval', { at: { id } }).then(setDetail, (error) => setTrouble(messageOf(error)));
  }, [id, waiting]);
  return [detail, trouble];
}
