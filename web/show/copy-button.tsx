import { Copy } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { useWords } from '../words/words.ts';

export function CopyButton({ text, name }: { text: string; name?: string }): ReactNode {
  const say = useWords();
  const [copied, setCopied] = useState('');
  useEffect(() => setCopied((now) => (now === text ? now : '')), [text]);
  return (
    <button
      type="button"
      className="button"
      onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(text))}
    >
      <Copy size={16} aria-hidden />
      {copied === text && text !== '' ? say('copied') : (name ?? say('copy'))}
    </button>
  );
}
