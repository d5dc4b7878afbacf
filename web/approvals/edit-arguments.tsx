import { lazy, type ReactNode, useEffect, useRef, useState } from 'react';
import type { ApprovalDetail } from '../../src/protocol/approvals.ts';
import { api, messageOf } from '../api/api.ts';
import type { Answer } from '../api/operations.ts';
import { JsonField } from '../show/json-field.tsx';
import { LatePart } from '../show/lazy-part.tsx';
import { type Schema, SchemaForm, type Values } from '../show/schema-form.tsx';
import { Trouble } from '../show/trouble.tsx';
import { useWords } from '../words/words.ts';
import { WhatRuns } from './call-preview.tsx';

const DraftEditor = lazy(() => import('./draft-editor.tsx').then(({ DraftEditor }) => ({ default: DraftEditor })));

type Way = 'form' | 'json' | 'diff';

/** Other arguments; `digest` is of the review that showed what they would do, null until it has come. */
export interface Edit {
  readonly args?: Values;
  readonly digest: string | null;
}

const SETTLE_MS = 300;

/** Other arguments than were asked for. They are validated and judged again before anything runs. */
export function EditArguments({
  approval,
  onEdited,
  onBroken,
  onSeen,
}: {
  approval: ApprovalDetail;
  onEdited: (edit: Edit | null) => void;
  onBroken: (broken: boolean) => void;
  onSeen: (digest: string) => void;
}): ReactNode {
  const say = useWords();
  const [schema, setSchema] = useState<Schema | null>(null);
  const [values, setValues] = useState(approval.args as Values);
  const [trouble, setTrouble] = useState<string | null>(null);
  const { draft } = approval;
  const [way, setWay] = useState<Way>(draft === null ? 'form' : 'diff');
  useEffect(() => {
    api('getTool', { at: { name: approval.tool } }).then(
      ({ inputSchema }) => setSchema(inputSchema as Schema),
      () => setWay('json'),
    );
  }, [approval.tool]);
  const take = (next: Values) => {
    setValues(next);
    onEdited(isSame(next, approval.args) ? null : { args: next, digest: null });
  };
  /** The server says which arguments give this text: it knows the tool, the page does not. */
  const latest = useRef(0);
  const takeText = async (text: string) => {
    const round = ++latest.current;
    try {
      const { args } = await api('reviewEdit', { at: { id: approval.id }, body: { text } });
      if (round !== latest.current) return;
      take(args as Values);
      onBroken(false);
      setTrouble(null);
    } catch (error) {
      if (round === latest.current) setTrouble(messageOf(error));
    }
  };
  const textChanges = () => {
    latest.current += 1;
    onBroken(true);
  };
  /** What was half written goes with its field. The diff begins as the call was asked for, so what runs does as well. */
  const goTo = (next: Way) => {
    if (next === way) return;
    latest.current += 1;
    onBroken(false);
    setTrouble(null);
    if (next === 'diff') take(approval.args as Values);
    setWay(next);
  };
  const ways: readonly Way[] = draft === null ? ['form', 'json'] : ['diff', 'form', 'json'];
  const names = { form: 'asForm', json: 'asJson', diff: 'asDiff' } as const;
  return (
    <section aria-label={say('edit')}>
      <div role="tablist" className="mb-2 flex gap-1">
        {ways.map((one) => (
          <button
            key={one}
            type="button"
            role="tab"
            aria-selected={way === one}
            className="button aria-selected:border-accent aria-selected:font-semibold"
            onClick={() => goTo(one)}
          >
            {say(names[one])}
          </button>
        ))}
      </div>
      {way === 'form' && schema !== null && (
        <SchemaForm schema={schema} values={values} onChange={take} onBroken={onBroken} />
      )}
      {way === 'json' && (
        <JsonField
          label={say('asJson')}
          value={values}
          rows={8}
          isObject
          onBroken={onBroken}
          onChange={(v) => take(v as Values)}
        />
      )}
      {way === 'diff' && draft !== null && (
        <LatePart>
          <DraftEditor draft={draft} onChange={textChanges} onText={(text) => void takeText(text)} />
          <Trouble text={trouble} />
        </LatePart>
      )}
      <Review
        approval={approval}
        values={values}
        onReviewed={(digest) => onEdited({ args: values, digest })}
        onSeen={onSeen}
      />
    </section>
  );
}

/** What would run now: of changed arguments the server says it, with the same checks as on approving them. */
function Review({
  approval,
  values,
  onReviewed,
  onSeen,
}: {
  approval: ApprovalDetail;
  values: Values;
  onReviewed: (digest: string | null) => void;
  onSeen: (digest: string) => void;
}): ReactNode {
  const say = useWords();
  const [review, setReview] = useState<Answer<'reviewEdit'> | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const [round, setRound] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: when the arguments change, or somebody wants to look again
  useEffect(() => {
    setReview(null);
    setTrouble(null);
    if (isSame(values, approval.args)) return;
    onReviewed(null);
    let isLatest = true;
    const timer = setTimeout(async () => {
      const asked = api('reviewEdit', { at: { id: approval.id }, body: { modifiedArgs: values } });
      const [found, refused] = await asked.then(
        (answer) => [answer, null] as const,
        (error) => [null, messageOf(error)] as const,
      );
      if (!isLatest) return;
      setReview(found);
      setTrouble(refused);
      onReviewed(found?.digest ?? null);
    }, SETTLE_MS);
    return () => {
      isLatest = false;
      clearTimeout(timer);
    };
  }, [values, round]);
  const planned = isSame(values, approval.args) ? approval : review;
  return (
    <div className="mt-2 flex flex-col gap-2">
      <button type="button" className="button w-fit" onClick={() => setRound(round + 1)}>
        {say('checkEdit')}
      </button>
      <Trouble text={trouble} />
      {planned !== null && <WhatRuns planned={planned} onSeen={onSeen} />}
    </div>
  );
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
