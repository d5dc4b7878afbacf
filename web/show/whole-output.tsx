import { type ReactNode, useState } from 'react';
import { api, messageOf } from '../api/api.ts';
import { useWords } from '../words/words.ts';
import { Trouble } from './trouble.tsx';

/** The whole output of a call as a file, where the text shows a part of it. */
export function WholeOutput({ id, tool }: { id: string; tool: string }): ReactNode {
  const say = useWords();
  const [trouble, setTrouble] = useState<string | null>(null);
  const download = async () => {
    try {
      const { text } = await api('getCallOutput', { at: { id } });
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
      link.download = `${tool}-${id}.txt`;
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
