import { type ReactNode, useEffect, useState } from 'react';
import type { ViewBlock } from '../../src/protocol/view.ts';
import { api } from '../api/api.ts';
import { OutputFrame } from '../show/output-frame.tsx';
import { WholeOutput } from '../show/whole-output.tsx';
import type { CallItem } from '../state/feed.ts';

export function CallResult({ call }: { call: CallItem }): ReactNode {
  const blocks = useView(call);
  const error =
    call.state === 'succeeded' ? undefined : { code: call.errorCode, message: call.text.replace(/^Error: /, '') };
  return (
    <OutputFrame error={error} blocks={blocks}>
      {call.hasWhole && <WholeOutput id={call.id} tool={call.tool} />}
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
