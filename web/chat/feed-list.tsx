import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, type ReactNode, useEffect, useRef, useState } from 'react';
import { Markdown } from '../show/markdown.tsx';
import type { MessageItem } from '../state/feed.ts';
import { useServerWords, useWords } from '../words/words.ts';
import { CallCard } from './call-card.tsx';
import type { ChatRow } from './group-rows.ts';

/** A virtual list: only rows in view are in the DOM. It follows the end until a person scrolls up. */
export function FeedList({ rows }: { rows: readonly ChatRow[] }): ReactNode {
  const say = useWords();
  const scroller = useRef<HTMLDivElement>(null);
  const [pinned, setPinned] = useState(true);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 72,
    overscan: 8,
    getItemKey: (index) => rows[index]?.key ?? index,
  });
  const height = virtual.getTotalSize();
  useEffect(() => {
    if (pinned && height > 0) scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
  }, [pinned, height]);
  return (
    <div
      ref={scroller}
      role="log"
      aria-label={say('chat')}
      aria-live="off"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
      tabIndex={0}
      className="min-h-0 flex-1 overflow-y-auto px-3 py-3"
      onScroll={({ currentTarget: box }) => setPinned(box.scrollHeight - box.scrollTop - box.clientHeight < 80)}
    >
      <div className="relative mx-auto max-w-4xl" style={{ height }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => {
          const row = rows[index];
          return (
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              className="absolute inset-x-0 top-0 pb-2"
              style={{ transform: `translateY(${start}px)` }}
            >
              {row !== undefined && <Row row={row} />}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function Row({ row }: { row: ChatRow }): ReactNode {
  const say = useWords();
  if (row.kind === 'message') return <Message message={row.message} />;
  const [only] = row.calls;
  if (row.calls.length === 1 && only !== undefined) return <CallCard call={only} />;
  return (
    // biome-ignore lint/a11y/useSemanticElements: no fields are in it
    <div
      role="group"
      aria-label={say('parallel', { count: row.calls.length })}
      className="border-accent border-l-2 pl-2"
    >
      <p className="mb-1 text-soft text-xs">{say('parallel', { count: row.calls.length })}</p>
      <div className="flex flex-col gap-2">
        {row.calls.map((call) => (
          <CallCard key={call.id} call={call} />
        ))}
      </div>
    </div>
  );
}

const RUN_WORDS = {
  scripted: 'runScripted',
  stopped: 'runStopped',
  budget: 'runBudget',
  loop: 'runLoop',
  refused: 'runRefused',
  failed: 'runFailed',
} as const;

const Message = memo(({ message }: { message: MessageItem }): ReactNode => {
  const say = useWords();
  const told = useServerWords();
  const { role, text } = message;
  if (role === 'user') {
    return (
      <div className="ml-auto w-fit max-w-[85%] whitespace-pre-wrap rounded-xl bg-raised px-3 py-2 [overflow-wrap:anywhere]">
        <span className="sr-only">{say('you')}: </span>
        {text}
      </div>
    );
  }
  return (
    <div data-role={role} className={role === 'notice' ? 'text-soft text-sm italic' : 'py-1 [overflow-wrap:anywhere]'}>
      <span className="sr-only">{say(role === 'notice' ? 'notice' : 'agent')}: </span>
      {message.run !== undefined && <strong>{say(RUN_WORDS[message.run.kind])} </strong>}
      <Markdown text={message.run === undefined ? text : told(text)} />
    </div>
  );
});
