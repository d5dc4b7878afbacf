import { ChevronDown, ChevronRight } from 'lucide-react';
import { type ReactNode, useId, useState } from 'react';
import { oneLine } from '../../src/kernel/text/visible.ts';
import type { ChangeItem } from '../../src/protocol/preview.ts';
import { DiffText } from '../show/diff-text.tsx';
import { formatBytes } from '../show/format.ts';
import { VisibleText } from '../show/visible-text.tsx';
import { type Translate, useServerWords, useWords } from '../words/words.ts';
import { ChangedText } from './changed-text.tsx';
import { type ChangesTicks, isKept, withHunk, withItems, withText } from './changes-selection.ts';
import { type ChangeGroup, GROUP_WORDS, groupChanges, hunksOf } from './group-changes.ts';

/** The ticks of a question; without them the list only shows what there was. */
export interface ChangesChoice {
  readonly stage: string;
  readonly ticks: ChangesTicks;
  readonly onTicks: (change: (now: ChangesTicks) => ChangesTicks) => void;
}

/** The changes of a command in groups, the protected first; each with a tick, its numbers and its diff. */
export function ChangesList({
  items,
  repository,
  choice,
}: {
  items: readonly ChangeItem[];
  repository: readonly string[];
  choice?: ChangesChoice;
}): ReactNode {
  return (
    <div className="flex flex-col gap-3" data-changes>
      {groupChanges(items).map((group) => (
        <Group key={group.name} group={group} repository={repository} choice={choice} />
      ))}
    </div>
  );
}

interface PartProps {
  readonly choice: ChangesChoice | undefined;
}

function Group({
  group: { name, folders },
  repository,
  choice,
}: PartProps & { group: ChangeGroup; repository: readonly string[] }): ReactNode {
  const say = useWords();
  const items = folders.flatMap((each) => each.items);
  const isOpen = name === 'protected' || name === 'changed' || name === 'deleted';
  const title = `${say(GROUP_WORDS[name])} (${items.length})`;
  const tick = name === 'never' ? undefined : choice;
  return (
    <fieldset className="min-w-0">
      <legend className={`font-semibold text-sm ${name === 'protected' ? 'text-warn' : ''}`}>
        <Tick choice={tick} items={items} label={title}>
          {title}
        </Tick>
      </legend>
      {name === 'repository' ? (
        <ul className="ml-6 text-sm">
          {repository.map((line) => (
            <li key={line}>
              <VisibleText text={line} />
            </li>
          ))}
        </ul>
      ) : (
        folders.map(({ folder, items: own }) => (
          <div key={folder ?? own[0]?.path} className={folder === null ? '' : 'mt-1'}>
            {folder !== null && (
              <p className="ml-6 text-soft text-sm">
                <Tick choice={tick} items={own} label={say('changeFolder', { folder: oneLine(folder) })}>
                  <code className="code">
                    <VisibleText text={`${oneLine(folder)}/`} />
                  </code>
                </Tick>
              </p>
            )}
            <ul className={folder === null ? 'ml-6' : 'ml-12'}>
              {own.map((item) => (
                <Item key={`${item.kind} ${item.path}`} item={item} isOpen={isOpen} choice={tick} />
              ))}
            </ul>
          </div>
        ))
      )}
    </fieldset>
  );
}

/** One tick for some items: half ticked when only some of them are kept. */
function Tick({
  choice,
  items: all,
  label,
  children,
}: PartProps & { items: readonly ChangeItem[]; label: string; children: ReactNode }): ReactNode {
  const id = useId();
  const items = all.filter(({ inside }) => inside === undefined);
  if (choice === undefined || items.length === 0) return children;
  const kept = items.filter((item) => isKept(choice.ticks, item)).length;
  const hasLeftHunks = items.some(({ path }) => (choice.ticks.leftHunks.get(path)?.size ?? 0) > 0);
  const isHalf = kept > 0 && (kept < items.length || hasLeftHunks);
  return (
    <span className="inline-flex items-center gap-2">
      <input
        id={id}
        type="checkbox"
        className="size-4 shrink-0"
        aria-label={label}
        checked={kept === items.length && !isHalf}
        ref={(box) => {
          if (box !== null) box.indeterminate = isHalf;
        }}
        onChange={({ target }) => choice.onTicks((now) => withItems(now, items, target.checked ? 'on' : 'off'))}
      />
      <label htmlFor={id} className="min-w-0 cursor-pointer [overflow-wrap:anywhere]">
        {children}
      </label>
    </span>
  );
}

const MARKS = { created: 'A', modified: 'M', deleted: 'D', mode: 'M' } as const;

function Item({ item, isOpen, choice }: PartProps & { item: ChangeItem; isOpen: boolean }): ReactNode {
  const say = useWords();
  const told = useServerWords();
  const [open, setOpen] = useState(isOpen);
  const hasDiff = item.diff !== undefined && item.diff !== '';
  const Arrow = open ? ChevronDown : ChevronRight;
  const isEdited = choice?.ticks.texts.has(item.path) === true;
  return (
    <li className="py-0.5" data-change={item.path}>
      <div className="flex flex-wrap items-center gap-x-2 text-sm">
        <Tick choice={choice} items={[item]} label={say('changeSelect', { path: shownPath(item) })}>
          <code className="code">
            <span className={item.kind === 'deleted' ? 'text-bad' : 'text-soft'}>{MARKS[item.kind]}</span>{' '}
            <VisibleText
              text={item.entries === undefined && item.inside === undefined ? shownPath(item) : `${shownPath(item)}/`}
            />
          </code>
        </Tick>
        {item.added !== undefined && (
          <span>
            <span className="text-good">+{item.added}</span> <span className="text-bad">−{item.removed ?? 0}</span>
          </span>
        )}
        <span className="text-soft">
          <VisibleText text={factsOf(item, say, told)} />
        </span>
        {isEdited && <span className="text-warn">{say('changeEdited')}</span>}
        {hasDiff && (
          <button
            type="button"
            className="button plain"
            aria-expanded={open}
            aria-label={`${say('asDiff')}: ${shownPath(item)}`}
            onClick={() => setOpen(!open)}
          >
            <Arrow size={16} aria-hidden />
          </button>
        )}
      </div>
      {item.truncated && <p className="text-sm text-warn">{say('changeDiffLong')}</p>}
      {open && hasDiff && !isEdited && <Hunks item={item} choice={choice} />}
      {choice !== undefined && (open || item.truncated) && isText(item) && (
        <ChangedText
          stage={choice.stage}
          path={item.path}
          isEdited={isEdited}
          onText={(text) => choice.onTicks((now) => withText(now, item.path, text))}
        />
      )}
    </li>
  );
}

function Hunks({ item, choice }: PartProps & { item: ChangeItem }): ReactNode {
  const say = useWords();
  const hunks = hunksOf(item.diff ?? '');
  if (choice === undefined || hunks.length < 2) return <DiffText text={item.diff ?? ''} />;
  const out = choice.ticks.leftHunks.get(item.path);
  const isOut = !isKept(choice.ticks, item);
  return (
    <div className="flex flex-col gap-1">
      {hunks.map((hunk, index) => (
        <div key={index} className="flex items-start gap-2">
          <input
            type="checkbox"
            className="mt-1 size-4 shrink-0"
            aria-label={say('changeHunk', { number: index + 1, path: shownPath(item) })}
            checked={!isOut && out?.has(index + 1) !== true}
            disabled={isOut}
            onChange={() => choice.onTicks((now) => withHunk(now, item, index + 1))}
          />
          <div className="min-w-0 flex-1">
            <DiffText text={hunk} />
          </div>
        </div>
      ))}
    </div>
  );
}

function shownPath({ path, shown = path }: ChangeItem): string {
  return shown;
}

/** A file whose new text a person may edit. */
function isText({ kind, entries, leadsTo, added, truncated }: ChangeItem): boolean {
  return (
    kind !== 'deleted' &&
    kind !== 'mode' &&
    entries === undefined &&
    leadsTo === undefined &&
    (added !== undefined || truncated === true)
  );
}

function factsOf(item: ChangeItem, say: Translate, told: (text: string) => string): string {
  const { kind, entries, inside, bytes, leadsTo, reason, loses, overtaken, added } = item;
  return [
    kind === 'mode' ? say('changeMode') : '',
    entries === undefined ? '' : say(entries === 1 ? 'changeEntry' : 'changeEntries', { count: entries }),
    inside === undefined ? '' : say('changesInside', { count: inside }),
    added !== undefined || bytes === undefined ? '' : formatBytes(bytes),
    leadsTo === undefined ? '' : `→ ${leadsTo}`,
    reason === undefined ? '' : told(reason),
    loses ? say('changeLoses') : '',
    overtaken ? say('changeOvertaken') : '',
  ]
    .filter(Boolean)
    .join(' · ');
}
