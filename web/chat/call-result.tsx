import { type ReactNode, useEffect, useState } from 'react';
import type { ViewBlock } from '../../src/protocol/view.ts';
import { api, messageOf } from '../api/api.ts';
import { Trouble } from '../show/trouble.tsx';
import { ViewBlocks } from '../show/view-blocks.tsx';
import { Visible } from '../show/visible.tsx';
import type { CallItem } from '../state/feed.ts';
import { useServerWords, useWords } from '../words/words.ts';

/** What a call gave, in a frame that says whose words these are: output cannot pass for a part of the page. */
export function CallResult({ call }: { call: CallItem }): ReactNode {
  const say = useWords();
  const told = useServerWords();
  const blocks = useView(call);
  const failed = call.phase !== 'done';
  // Above what the model read, which stays as it is.
  const said = failed ? call.text.replace(/^Error: /, '') : '';
  const meant = told(said);
  return (
    <figure className={`output-frame ${failed ? 'border-bad' : ''}`}>
      <figcaption className="border-line border-b border-dashed px-2 py-0.5 text-soft text-xs">
        {failed
          ? `${say('error')}${call.errorCode === null ? '' : ` · ${call.errorCode}`}`
          : say('fromTool', { tool: call.tool })}
      </figcaption>
      <div className="p-2">
        {meant !== said && (
          <p className="mb-1">
            <Visible text={meant} />
          </p>
        )}
        <ViewBlocks blocks={blocks} />
        {call.cut && <WholeOutput call={call} />}
      </div>
    </figure>
  );
}

/** The tool's own view comes from the server; until then, when it failed, and where it is too long to be shown, its text. */
function useView(call: CallItem): readonly ViewBlock[] {
  const [view, setView] = useState<readonly ViewBlock[] | null>(null);
  const wanted = call.phase === 'done' && !call.cut;
  useEffect(() => {
    if (!wanted) return;
    let current = true;
    api('getCall', { at: { id: call.id } }).then(
      (found) => current && setView(found.view ?? null),
      () => undefined,
    );
    return () => {
      current = false;
    };
  }, [call.id, wanted]);
  return view ?? [{ kind: 'text', text: call.text }];
}

function WholeOutput({ call }: { call: CallItem }): ReactNode {
  const say = useWords();
  const [trouble, setTrouble] = useState<string | null>(null);
  const download = async () => {
    try {
      const { text } = await api('getCallOutput', { at: { id: call.id } });
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
      link.download = `${call.tool}-${call.id}.txt`;
      link.click();
      URL.revokeObjectURL(link.href);
    } catch (error) {
      setTrouble(messageOf(error));
    }
  };
  return (
    <p className="mt-2 flex flex-wrap items-center gap-2 text-soft text-sm">
      {say('cutNote')}
      <button type="button" className="button" onClick={() => void download()}>
        {say('download')}
      </button>
      <Trouble text={trouble} />
    </p>
  );
}
