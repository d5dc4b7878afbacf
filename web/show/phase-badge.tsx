import { Ban, Check, CircleSlash, Clock, Hand, LoaderCircle, X } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Phase } from '../state/feed.ts';
import { useWords } from '../words/words.ts';

const SHOWN = {
  waiting: { Icon: Hand, word: 'phaseWaiting', colour: 'text-warn' },
  queued: { Icon: Clock, word: 'phaseQueued', colour: 'text-soft' },
  running: { Icon: LoaderCircle, word: 'phaseRunning', colour: 'text-accent' },
  done: { Icon: Check, word: 'phaseDone', colour: 'text-good' },
  failed: { Icon: X, word: 'phaseFailed', colour: 'text-bad' },
  denied: { Icon: Ban, word: 'phaseDenied', colour: 'text-bad' },
  cancelled: { Icon: CircleSlash, word: 'phaseCancelled', colour: 'text-soft' },
} as const;

interface PhaseBadgeProps {
  readonly phase: Phase;
  /** Of a command that has ended. */
  readonly exitCode?: number | null;
}

/** Shows a call's phase by icon and word, never by colour alone. */
export function PhaseBadge({ phase, exitCode = null }: PhaseBadgeProps): ReactNode {
  const say = useWords();
  const { Icon, word, colour } = SHOWN[phase];
  return (
    <span
      data-phase={phase}
      className={`flex shrink-0 items-center gap-1 whitespace-nowrap font-medium text-sm ${colour}`}
    >
      <Icon size={16} aria-hidden className={`shrink-0 ${phase === 'running' ? 'motion-safe:animate-spin' : ''}`} />
      {say(word)}
      {exitCode !== null && ` · ${say('exitCode', { code: exitCode })}`}
    </span>
  );
}
