import { type ReactNode, useEffect, useState } from 'react';
import type { ViewBlock } from '../../src/protocol/view.ts';
import { api, messageOf } from '../api/api.ts';
import { OutputFrame } from '../show/output-frame.tsx';
import { Trouble } from '../show/trouble.tsx';
import type { CallItem } from '../state/feed.ts';
import { useWords } from '../words/words.ts';

export function CallResult({ call }: { call: CallItem }): ReactNode {
  const blocks = useView(call);
  const error =
    call.state === 'succeeded' ? undefined : { code: call.errorCode, message: call.text.replace(/^Error: /, '') };
  return (
    <OutputFrame error={error} blocks={blocks}>
      {call.cut && <WholeOutput call={call} />}
    </OutputFrame>
  );
}

/** Returns the tool's own view from the server; the plain text until it arrives, for failed calls and for long output. */
function useView(call: CallItem): readonly ViewBlock[] {
  const [view, setView] = useState<readonly ViewBlock[] | null>(null);
  const wanted = call.state === 'succeeded' && !call.cut;
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
