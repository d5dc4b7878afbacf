import { useEffect, useState } from 'react';

const UNARMED_MS = 500;

/** Returns false for the first half second after `what` changed, so that a click aimed elsewhere does nothing. */
export function useArmed(what: string): boolean {
  const [armed, setArmed] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setArmed(what), UNARMED_MS);
    return () => clearTimeout(timer);
  }, [what]);
  return armed === what;
}
