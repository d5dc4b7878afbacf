import { type ReactNode, useId } from 'react';
import { useWords } from '../words/words.ts';

/** Shows where the server keeps the key and takes a new one, which is never shown again. */
export function ModelKey({
  from,
  value,
  onChange,
  onForget,
}: {
  from: 'environment' | 'configuration' | null;
  value: string;
  onChange: (key: string) => void;
  onForget: () => void;
}): ReactNode {
  const say = useWords();
  const hint = useId();
  if (from === 'environment') return <p className="text-sm">{say('keyFromEnvironment')}</p>;
  return (
    <div className="text-sm">
      <label>
        {say(from === null ? 'modelKey' : 'modelKeyOther')}
        <input
          type="password"
          autoComplete="off"
          spellCheck={false}
          aria-describedby={hint}
          className="field"
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      </label>
      <p id={hint} className="mt-1 text-soft">
        {say(from === null ? 'modelKeyHint' : 'keyFromConfiguration')}
        {from !== null && (
          <button type="button" className="button plain text-accent underline" onClick={onForget}>
            {say('modelKeyForget')}
          </button>
        )}
      </p>
    </div>
  );
}
