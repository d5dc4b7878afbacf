import { type ReactNode, useEffect, useState } from 'react';
import { duration } from '../show/format.ts';
import { useWords } from '../words/words.ts';

export function Expiry({ at }: { at: number | null }): ReactNode {
  const say = useWords();
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  if (at === null) return null;
  return (
    <p className="text-soft text-sm" role="timer">
      {at > now ? say('expiresIn', { time: duration(at - now) }) : say('answerExpired')}
    </p>
  );
}
