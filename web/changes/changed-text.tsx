import { lazy, type ReactNode, useState } from 'react';
import { api, messageOf } from '../api/api.ts';
import { LazyPart } from '../show/lazy-part.tsx';
import { Trouble } from '../show/trouble.tsx';
import { useWords } from '../words/words.ts';

const DraftEditor = lazy(() => import('../approvals/draft-editor.tsx').then((part) => ({ default: part.DraftEditor })));

interface TextDraft {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

/** The text that a command wrote, in an editor; the edited text is kept instead. */
export function ChangedText({
  stage,
  path,
  isEdited,
  onText,
}: {
  stage: string;
  path: string;
  isEdited: boolean;
  /** Null brings back the text of the command. */
  onText: (text: string | null) => void;
}): ReactNode {
  const say = useWords();
  const [draft, setDraft] = useState<TextDraft | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const open = async () => {
    const side = (which: 'before' | 'after') =>
      api('getChangedFile', { at: { id: stage }, query: { path, side: which } });
    try {
      const [before, after] = await Promise.all([side('before'), side('after')]);
      if (before.hidden || after.hidden) setTrouble(say('changeHidden'));
      else setDraft({ path, before: before.text ?? '', after: after.text ?? '' });
    } catch (error) {
      setTrouble(messageOf(error));
    }
  };
  const reset = () => {
    setDraft(null);
    onText(null);
  };
  return (
    <div className="my-1 flex flex-col gap-1">
      {draft === null ? (
        <button
          type="button"
          className="button w-fit text-sm"
          aria-label={`${say('changeEdit')}: ${path}`}
          onClick={() => void open()}
        >
          {say('changeEdit')}
        </button>
      ) : (
        <LazyPart>
          <DraftEditor draft={draft} onChange={() => undefined} onText={onText} />
        </LazyPart>
      )}
      {(isEdited || draft !== null) && (
        <button type="button" className="button w-fit text-sm" onClick={reset}>
          {say('changeEditReset')}
        </button>
      )}
      <Trouble text={trouble} />
    </div>
  );
}
