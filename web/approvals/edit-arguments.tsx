import { lazy, type ReactNode, useEffect, useRef, useState } from 'react';
import type { ApprovalDetail } from '../../src/protocol/approvals.ts';
import { api, messageOf } from '../api/api.ts';
import type { ApiAnswer } from '../api/operations.ts';
import { JsonField } from '../show/json-field.tsx';
import { LazyPart } from '../show/lazy-part.tsx';
import { type FormSchema, type FormValues, SchemaForm } from '../show/schema-form.tsx';
import { Trouble } from '../show/trouble.tsx';
import { useWords } from '../words/words.ts';
import { CallPreview } from './call-preview.tsx';

const DraftEditor = lazy(() => import('./draft-editor.tsx').then(({ DraftEditor }) => ({ default: DraftEditor })));

type EditView = 'form' | 'json' | 'diff';

/** Edited arguments. `digest` comes from the review that showed their effect; null until that has arrived. */
export interface ArgumentsEdit {
  readonly args?: FormValues;
  readonly digest: string | null;
}

const SETTLE_MS = 300;

/** Lets a person edit the arguments of a call. The server validates and judges them again before anything runs. */
export function EditArguments({
  approval,
  onEdited,
  onBroken,
  onSeen,
}: {
  approval: ApprovalDetail;
  onEdited: (edit: ArgumentsEdit | null) => void;
  onBroken: (broken: boolean) => void;
  onSeen: (digest: string) => void;
}): ReactNode {
  const say = useWords();
  const [schema, setSchema] = useState<FormSchema | null>(null);
  const [values, setValues] = useState(approval.args as FormValues);
  const [trouble, setTrouble] = useState<string | null>(null);
  const { draft } = approval;
  const [way, setWay] = useState<EditView>(draft === null ? 'form' : 'diff');
  useEffect(() => {
    api('getTool', { at: { name: approval.tool } }).then(
      ({ inputSchema }) => setSchema(inputSchema as FormSchema),
      () => setWay('json'),
    );
  }, [approval.tool]);
  const take = (next: FormValues) => {
    setValues(next);
    onEdited(isSame(next, approval.args) ? null : { args: next, digest: null });
  };
  /** Asks the server which arguments produce this text: the server knows the tool, the page does not. */
  const latest = useRef(0);
  const takeText = async (text: string) => {
    const round = ++latest.current;
    try {
      const { args } = await api('reviewEdit', { at: { id: approval.id }, body: { text } });
      if (round !== latest.current) return;
      take(args as FormValues);
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
  /** Drops half-typed text with its field. The diff starts from the requested arguments, so the edit does as well. */
  const goTo = (next: EditView) => {
    if (next === way) return;
    latest.current += 1;
    onBroken(false);
    setTrouble(null);
    if (next === 'diff') take(approval.args as FormValues);
    setWay(next);
  };
  const ways: readonly EditView[] = draft === null ? ['form', 'json'] : ['diff', 'form', 'json'];
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
          onChange={(v) => take(v as FormValues)}
        />
      )}
      {way === 'diff' && draft !== null && (
        <LazyPart>
          <DraftEditor draft={draft} onChange={textChanges} onText={(text) => void takeText(text)} />
          <Trouble text={trouble} />
        </LazyPart>
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

/** The call as it would run now. The server reviews edited arguments with the same checks as an approval. */
function Review({
  approval,
  values,
  onReviewed,
  onSeen,
}: {
  approval: ApprovalDetail;
  values: FormValues;
  onReviewed: (digest: string | null) => void;
  onSeen: (digest: string) => void;
}): ReactNode {
  const say = useWords();
  const [review, setReview] = useState<ApiAnswer<'reviewEdit'> | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const [round, setRound] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the arguments change or a person asks again
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
      {planned !== null && <CallPreview planned={planned} onSeen={onSeen} />}
    </div>
  );
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
